// Attention whose sizes are known only at run time; what text cases cannot say, since they are run as they stand.
#include "rewrite/pipeline.h"

#include "graph/text.h"
#include "graph/verify.h"
#include "runtime/executor.h"
#include "runtime/random_inputs.h"
#include "tensor_compare.h"

#include <gtest/gtest.h>

namespace attune::rewrite {
namespace {

Graph fused(const Graph& graph) {
  Graph result = graph;
  for (const PassEntry& entry : passes())
    if (entry.name == "fuse_attention") entry.pass(result);
  verify(result);
  return result;
}

int count_fused(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.nodes()) count += node.op == "FusedAttention";
  return count;
}

void expect_same_results(const Graph& before, const Graph& after, const std::map<std::string, Dims>& shapes) {
  const auto inputs = random_inputs(before, shapes, 7);
  const auto expected = ReferenceExecutor(before).run(inputs);
  const auto actual = ReferenceExecutor(after).run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(test::compare(actual[i], expected[i], {1e-4, 1e-5}), "");
}

TEST(FuseAttention, knows_the_beginning_of_a_triangle_of_any_length) {
  const Graph graph = parse_graph(R"(graph "g" {
  input %q : f32[1, 2, sequence, 3]
  input %k : f32[1, 2, sequence, 3]
  input %v : f32[1, 2, sequence, 3]
  input %m : f32[1, 1, 1, sequence]
  const %tri : bool[3, 3] = hex "010000010100010101"
  const %low : f32[] = [-1000]
  const %zero : i64[1] = [0]
  const %one : i64[1] = [1]
  const %two : i64[1] = [2]
  const %three : i64[1] = [3]
  %shape = Shape@17(%q) "shape"
  %length = Slice@17(%shape, %two, %three) "length"
  %rows = Slice@17(%tri, %zero, %length, %zero) "rows"
  %both = Slice@17(%rows, %zero, %length, %one) "both"
  %kt = Transpose@17(%k) "kt" {perm = ints [0, 1, 3, 2]}
  %s = MatMul@17(%q, %kt) "scores"
  %h = Where@17(%both, %s, %low) "h"
  %a = Add@17(%h, %m) "a"
  %p = Softmax@17(%a) "p" {axis = -1}
  %y = MatMul@17(%p, %v) "y"
  output %y
})");
  const Graph after = fused(graph);
  ASSERT_EQ(after.nodes().size(), 1u) << to_text(after);
  EXPECT_EQ(std::get<int64_t>(after.nodes()[0].attributes.at("causal")), 1);
  for (const int64_t length : {1, 2, 3})
    expect_same_results(
        graph, after,
        {{"q", {1, 2, length, 3}}, {"k", {1, 2, length, 3}}, {"v", {1, 2, length, 3}}, {"m", {1, 1, 1, length}}});
}

/// Packed projections with the sequence first, as torchvision exports them, for any batch.
TEST(FuseAttention, reads_columns_of_a_projection_for_any_batch) {
  const Graph graph = parse_graph(R"(graph "g" {
  input %x : f32[5, batch, 18]
  const %three : i64[4] = [5, -1, 3, 6]
  const %first : i64[1] = [0]
  const %fourth : i64[1] = [3]
  const %i0 : i64[] = [0]
  const %i1 : i64[] = [1]
  const %i2 : i64[] = [-1]
  const %rows : i64[3] = [5, -1, 3]
  const %heads : i64[4] = [-1, 2, 5, 3]
  const %root : f32[] = [0.5]
  %a = Reshape@17(%x, %three) "a"
  %b = Unsqueeze@17(%a, %first) "b"
  %c = Transpose@17(%b) "c" {perm = ints [3, 1, 2, 0, 4]}
  %d = Squeeze@17(%c, %fourth) "d"
  %q0 = Gather@17(%d, %i0) "q0" {axis = 0}
  %k0 = Gather@17(%d, %i1) "k0" {axis = 0}
  %v0 = Gather@17(%d, %i2) "v0" {axis = 0}
  %q1 = Reshape@17(%q0, %rows) "q1"
  %q2 = Transpose@17(%q1) "q2" {perm = ints [1, 0, 2]}
  %q3 = Reshape@17(%q2, %heads) "q3"
  %k1 = Reshape@17(%k0, %rows) "k1"
  %k2 = Transpose@17(%k1) "k2" {perm = ints [1, 0, 2]}
  %k3 = Reshape@17(%k2, %heads) "k3"
  %v1 = Reshape@17(%v0, %rows) "v1"
  %v2 = Transpose@17(%v1) "v2" {perm = ints [1, 0, 2]}
  %v3 = Reshape@17(%v2, %heads) "v3"
  %qs = Mul@17(%q3, %root) "qs"
  %kt = Transpose@17(%k3) "kt" {perm = ints [0, 1, 3, 2]}
  %ks = Mul@17(%kt, %root) "ks"
  %s = MatMul@17(%qs, %ks) "scores"
  %p = Softmax@17(%s) "p" {axis = -1}
  %o = MatMul@17(%p, %v3) "o"
  %y = Transpose@17(%o) "y" {perm = ints [2, 0, 1, 3]}
  output %y
})");
  const Graph after = fused(graph);
  EXPECT_EQ(count_fused(after), 1) << to_text(after);
  EXPECT_EQ(after.nodes().size(), 1u) << to_text(after);
  for (const int64_t batch : {1, 3}) expect_same_results(graph, after, {{"x", {5, batch, 18}}});
}

}  // namespace
}  // namespace attune::rewrite
