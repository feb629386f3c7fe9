// Runs the text cases of tests/rewrite/*.test: a graph, "--- NAME" of a pass (or "pipeline" for all of them), and the
// graph that must come of it. Every case is also run: the rewritten graph must compute what the original does.
#include "rewrite/pipeline.h"

#include "graph/text.h"
#include "graph/verify.h"
#include "rewrite/bf16_regions.h"
#include "runtime/executor.h"
#include "runtime/random_inputs.h"
#include "tensor_compare.h"
#include "text_cases.h"

#include <gtest/gtest.h>

namespace attune::rewrite {
namespace {

using test::TextCase;

void run_pass(Graph& graph, const std::string& name) {
  if (name == "pipeline") {
    run_pipeline(graph);
    return;
  }
  for (const PassEntry& entry : passes())
    if (entry.name == name) {
      entry.pass(graph);
      return;
    }
  FAIL() << "no pass is named " << name;
}

/// Sizes for symbolic dims of inputs.
std::map<std::string, Dims> some_shapes(const Graph& graph) {
  std::map<std::string, Dims> shapes;
  for (const ValueId id : graph.inputs)
    for (const Dim& dim : graph.value(id).shape.value())
      shapes[graph.value(id).name].push_back(dim.is_known() ? dim.value() : 3);
  return shapes;
}

void expect_same_results(const Graph& before, const Graph& after, test::Tolerance tolerance) {
  const auto inputs = random_inputs(before, some_shapes(before), 7);
  const auto expected = ReferenceExecutor(before).run(inputs);
  const auto actual = ReferenceExecutor(after).run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(test::compare(actual[i], expected[i], tolerance), "");
}

TEST(Rewrite, cases_hold_and_compute_the_same) {
  int count = 0;
  for (const TextCase& c : test::read_text_cases(ATTUNE_TEST_SOURCE "/rewrite")) {
    SCOPED_TRACE(c.name);
    const Graph before = parse_graph(c.graph);
    Graph after = before;
    run_pass(after, c.expectation);
    verify(after);
    EXPECT_EQ(to_text(after), to_text(parse_graph(c.expected)));
    const bool rounds = c.expectation == "use_bf16";
    expect_same_results(before, after, rounds ? test::Tolerance{2e-2, 2e-2} : test::Tolerance{1e-4, 1e-5});
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(Rewrite, a_pass_can_be_switched_off) {
  Graph graph = parse_graph(R"(graph "g" {
  input %x : f32[2]
  %y = Identity@17(%x) "i"
  %z = Relu@17(%y) "r"
  output %z
})");
  Graph kept = graph;
  run_pipeline(kept, {{"remove_identities"}, {}});
  EXPECT_EQ(kept.nodes().size(), 2u);
  run_pipeline(graph);
  EXPECT_EQ(graph.nodes().size(), 1u);
}

TEST(Rewrite, nodes_can_be_left_alone) {
  const Graph before = parse_graph(R"(graph "g" {
  input %x : f32[2, 3]
  input %r : f32[2, 3]
  const %w : f32[3, 3] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  %y = MatMul@13(%x, %w) "product"
  %s = Add@14(%y, %r) "sum"
  %z = Relu@14(%s) "relu"
  output %z
})");
  Graph whole = before, part = before, apart = before, chained = before;
  run_pipeline(whole);
  EXPECT_EQ(whole.nodes().size(), 1u);
  run_pipeline(part, {.left_alone = {{"fuse_epilogues", {"relu"}}}});
  EXPECT_EQ(part.nodes().size(), 2u);
  run_pipeline(chained, {.left_alone = {{"fuse_epilogues", {"product"}}}});
  EXPECT_EQ(chained.nodes().size(), 2u);  // sum and relu are a chain of their own
  run_pipeline(apart, {.left_alone = {{"fuse_epilogues", {"product"}}, {"fuse_vectors", {"sum"}}}});
  EXPECT_EQ(apart.nodes().size(), 3u);

  Graph rounded = before;
  run_pipeline(rounded, {.switched_on = {"use_bf16"}, .left_alone = {{"use_bf16", {"product"}}}});
  EXPECT_EQ(to_text(rounded), to_text(whole));
}

TEST(Rewrite, what_follows_a_product_goes_with_the_last_one_it_follows) {
  const Graph graph = parse_graph(R"(graph "g" {
  input %x : f32[2, 3]
  const %w : f32[3, 3] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  %n = Relu@14(%x) "before"
  %a = MatMul@13(%n, %w) "first"
  %b = Relu@14(%a) "relu"
  %c = MatMul@13(%b, %w) "second"
  %d = Add@14(%c, %b) "residual"
  %e = Tanh@13(%b) "side"
  %s = ReduceSum@13(%d) "sum" {keepdims = 0}
  output %s
  output %e
})");
  const std::vector<Bf16Region> regions = bf16_regions(graph);
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[0].product, "first");
  EXPECT_EQ(regions[0].nodes, (std::vector<std::string>{"first", "relu", "side"}));
  EXPECT_EQ(regions[1].nodes, (std::vector<std::string>{"second", "residual"}));
}

TEST(Rewrite, an_unknown_pass_is_an_error) {
  Graph graph;
  EXPECT_THROW(run_pipeline(graph, {{"nonsense"}, {}}), UserError);
  EXPECT_THROW(run_pipeline(graph, {.left_alone = {{"nonsense", {}}}}), UserError);
  EXPECT_THROW(run_pipeline(graph, {.left_alone = {{"fold_constants", {"a"}}}}), UserError);
}

}  // namespace
}  // namespace attune::rewrite
