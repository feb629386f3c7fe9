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

TEST(Rewrite, a_look_up_has_no_row_for_indices_that_the_product_has_none_for) {
  const std::vector<int64_t> indices = {-9, -3, -2, -1, 0, 1, 2, 9};
  for (const char* one_hot : {"  const %depth : i64[] = [2]\n  const %values : f32[2] = [0, 1]\n"
                              "  %b = OneHot@11(%x, %depth, %values) \"b\"\n",
                              "  const %numbers : i64[2] = [0, 1]\n  const %axis : i64[1] = [1]\n"
                              "  %u = Unsqueeze@13(%x, %axis) \"u\"\n  %a = Equal@13(%u, %numbers) \"a\"\n"
                              "  %b = Cast@13(%a) \"b\" {to = 1}\n"}) {
    const Graph before = parse_graph(std::string("graph \"g\" {\n  input %x : i64[8]\n") + one_hot +
                                     "  const %w : f32[2, 1] = [3, 5]\n  %y = MatMul@13(%b, %w) \"y\"\n  output %y\n}");
    Graph after = before;
    run_pass(after, "look_up_one_hot");
    EXPECT_EQ(after.nodes().back().op, "Gather");
    const std::vector<Tensor> inputs = {Tensor::vector(indices)};
    EXPECT_EQ(test::compare(ReferenceExecutor(after).run(inputs)[0], ReferenceExecutor(before).run(inputs)[0], {0, 0}),
              "")
        << one_hot;
  }
}

TEST(Rewrite, what_is_fused_on_request_computes_the_same) {
  const Graph before = parse_graph(R"(graph "g" {
  input %x : f32[2, 2, 5, 4]
  input %r : f32[2, 3, 5, 4]
  const %w : f32[2, 1, 3, 1] = [1, 2, 3, 4, 5, 6]
  const %b : f32[2] = [0.5, -1]
  const %v : f32[3, 2, 1, 1] = [1, -2, 3, 4, 5, 6]
  %a = Conv@17(%x, %w, %b) "deep" {group = 2, pads = ints [1, 0, 1, 0]}
  %c = Relu@17(%a) "relu"
  %d = Conv@17(%c, %v) "point"
  %y = Add@17(%d, %r) "sum"
  output %y
})");
  Graph apart = before, together = before;
  run_pipeline(apart);
  EXPECT_EQ(apart.nodes().size(), 2u);
  PipelineOptions options;
  options.asked_for["fuse_separable"].names = {"point"};
  const auto results = run_pipeline(together, options);
  ASSERT_EQ(together.nodes().size(), 1u);
  EXPECT_EQ(together.nodes()[0].op, "FusedSeparable");
  expect_same_results(before, together, {1e-5, 1e-5});
  options.asked_for["fuse_vectors"].names = {"point"};
  EXPECT_THROW(run_pipeline(together, options), UserError);
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
