#include "graph/verify.h"

#include "base/error.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

/// x → Relu → y
Graph relu_graph() {
  Graph graph;
  graph.name = "g";
  const ValueId x = graph.add_input("x", DType::f32, Shape{Dim(2)});
  Value y;
  y.name = "y";
  Node node;
  node.op = "Relu";
  node.name = "relu";
  node.inputs = {x};
  node.outputs = {graph.add_value(y)};
  graph.outputs = node.outputs;
  graph.add_node(node);
  return graph;
}

std::string complaint(const Graph& graph) {
  try {
    verify(graph);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(Verify, accepts_a_good_graph) { EXPECT_EQ(complaint(relu_graph()), ""); }

TEST(Verify, names_node_and_value_when_a_value_is_read_too_early) {
  Graph graph = relu_graph();
  Node copy = graph.nodes()[0];
  std::swap(copy.inputs, copy.outputs);
  graph.nodes().insert(graph.nodes().begin(), copy);
  EXPECT_NE(complaint(graph).find("node 'relu' (Relu) reads value 'y' before it is produced"), std::string::npos);
}

TEST(Verify, refuses_a_value_produced_twice) {
  Graph graph = relu_graph();
  graph.nodes().push_back(graph.nodes()[0]);
  EXPECT_NE(complaint(graph).find("value 'y' is defined twice"), std::string::npos);
}

TEST(Verify, refuses_a_wrong_producer) {
  Graph graph = relu_graph();
  graph.value(1).producer = 7;
  EXPECT_NE(complaint(graph).find("does not name node 'relu'"), std::string::npos);
}

TEST(Verify, refuses_ids_out_of_range) {
  Graph graph = relu_graph();
  graph.outputs.push_back(99);
  EXPECT_NE(complaint(graph).find("output #99 is not produced"), std::string::npos);
}

TEST(Verify, refuses_a_constant_that_contradicts_its_type) {
  Graph graph = relu_graph();
  const ValueId id = graph.add_constant("w", Tensor::scalar<float>(1));
  graph.value(id).dtype = DType::i64;
  EXPECT_NE(complaint(graph).find("constant 'w' is declared as i64"), std::string::npos);
}

TEST(Verify, looks_into_subgraphs) {
  Graph graph = relu_graph();
  auto body = std::make_shared<Graph>(relu_graph());
  body->outputs = {42};
  graph.nodes()[0].attributes["body"] = body;
  EXPECT_NE(complaint(graph).find("output #42"), std::string::npos);
}

}  // namespace
}  // namespace attune
