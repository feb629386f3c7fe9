#include "zoo/zoo.h"

#include "base/error.h"
#include "base/parallel.h"
#include "graph/verify.h"
#include "ops/infer_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

namespace attune::zoo {
namespace {

bool same_constants(const Graph& a, const Graph& b) {
  if (a.values().size() != b.values().size()) return false;
  for (size_t i = 0; i < a.values().size(); ++i) {
    const Tensor &x = a.values()[i].constant, &y = b.values()[i].constant;
    if (x.size_bytes() != y.size_bytes()) return false;
    if (x.size_bytes() > 0 && std::memcmp(x.bytes(), y.bytes(), static_cast<size_t>(x.size_bytes())) != 0) return false;
  }
  return true;
}

std::string message_of(std::string_view name, const Options& options) {
  try {
    build(name, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// Well formed, every constant is read, and inference gives each output the type that the builder declares.
void expect_sound(const Graph& graph) {
  verify(graph);
  std::set<ValueId> used;
  for (const Node& node : graph.nodes()) used.insert(node.inputs.begin(), node.inputs.end());
  for (size_t i = 0; i < graph.values().size(); ++i)
    EXPECT_TRUE(!graph.values()[i].is_constant() || used.count(static_cast<ValueId>(i)))
        << graph.values()[i].name << " is not read";

  Graph undeclared = graph;
  for (const ValueId output : graph.outputs) undeclared.value(output).shape.reset();
  const GraphFacts facts = infer_graph(undeclared);
  for (const ValueId output : graph.outputs) {
    const Value& declared = graph.value(output);
    const ValueType& inferred = facts.types[static_cast<size_t>(output)];
    EXPECT_EQ(graph.find_value(declared.name), output);
    EXPECT_EQ(inferred.dtype, declared.dtype) << declared.name;
    EXPECT_EQ(to_text(inferred.shape), to_text(declared.shape)) << declared.name;
  }
}

class ZooModel : public testing::TestWithParam<Entry> {};

TEST_P(ZooModel, has_the_published_number_of_parameters) {
  const Graph graph = build(GetParam().name, {});
  EXPECT_EQ(parameter_count(graph), GetParam().parameters);
  EXPECT_EQ(graph.name, GetParam().name);
  EXPECT_EQ(graph.opsets.at(""), 17);
  for (const ValueId input : graph.inputs) EXPECT_TRUE(concrete(graph.value(input).shape));
  expect_sound(graph);
}

TEST_P(ZooModel, keeps_symbolic_sizes) {
  const Graph graph = build(GetParam().name, {.batch = 0, .sequence = 0});
  for (const auto& ends : {graph.inputs, graph.outputs})
    for (const ValueId end : ends) EXPECT_EQ(graph.value(end).shape->front(), Dim::symbol("batch"));
  expect_sound(graph);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooModel, testing::ValuesIn(entries().begin(), entries().end()),
                         [](const auto& case_info) { return std::string(case_info.param.name); });

TEST(Zoo, same_seed_gives_same_weights_with_any_number_of_threads) {
  const int threads = thread_count();
  set_thread_count(1);
  const Graph one = build("resnet18", {.seed = 7});
  set_thread_count(3);
  const Graph three = build("resnet18", {.seed = 7});
  set_thread_count(threads);
  EXPECT_TRUE(same_constants(one, three));
}

TEST(Zoo, another_seed_gives_other_weights) {
  EXPECT_FALSE(same_constants(build("lenet", {.seed = 1}), build("lenet", {.seed = 2})));
}

TEST(Zoo, batch_size_does_not_change_weights) {
  const Graph one = build("lenet", {.batch = 1});
  const Graph eight = build("lenet", {.batch = 8});
  EXPECT_TRUE(same_constants(one, eight));
  EXPECT_EQ(to_text(eight.value(eight.outputs.front()).shape), "8x10");
}

TEST(Zoo, weights_have_the_deviation_asked_for) {
  const Graph graph = build("mlp", {});
  const Tensor& weight = graph.value(*graph.find_value("2.weight")).constant;
  double sum = 0, square = 0;
  for (int64_t i = 0; i < weight.count(); ++i) {
    const double x = weight.data<float>()[i];
    sum += x;
    square += x * x;
  }
  const auto count = static_cast<double>(weight.count());
  EXPECT_NEAR(sum / count, 0, 1e-3);
  EXPECT_NEAR(std::sqrt(square / count), std::sqrt(2.0 / 512), 1e-3);  // He's initialisation
}

TEST(Zoo, yolo_decodes_three_anchors_in_each_cell) {
  const Graph own = build("yolov5s", {});
  EXPECT_EQ(to_text(own.value(own.outputs.front()).shape), "1x25200x85");
  const Graph small = build("yolov5s", {.image_size = 64});
  EXPECT_EQ(to_text(small.value(small.outputs.front()).shape), "1x252x85");
  EXPECT_EQ(parameter_count(small), parameter_count(own));
}

TEST(Zoo, unknown_name_gets_a_suggestion) {
  EXPECT_EQ(message_of("resnet-5O", {}), "the zoo has no model 'resnet-5O'; did you mean 'resnet50'?");
  EXPECT_NE(message_of("quux", {}).find("it has resnet18, "), std::string::npos);
}

TEST(Zoo, options_out_of_range_are_refused) {
  EXPECT_NE(message_of("resnet18", {.batch = -1}), "");
  EXPECT_NE(message_of("resnet18", {.image_size = 8}), "");
  EXPECT_NE(message_of("resnet18", {.image_size = -224}), "");
  EXPECT_NE(message_of("yolov5s", {.image_size = 100}), "");
  EXPECT_NE(message_of("yolov5s", {.image_size = 1 << 20}), "");
  EXPECT_NE(message_of("lenet", {.image_size = 32}), "");
  EXPECT_NE(message_of("bert_base", {.sequence = 513}), "");
  EXPECT_NE(message_of("gpt2", {.sequence = -1}), "");
  EXPECT_NE(message_of("gpt2", {.image_size = 224}), "");
}

}  // namespace
}  // namespace attune::zoo
