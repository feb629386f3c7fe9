// attune::SqueezeExcite in sessions: one native kernel in the layout of the convolutions around it, its parts where the
// kernel lacks a function; and what it does with numbers that are none.
#include "graph/text.h"
#include "ops/infer_graph.h"
#include "runtime/random_inputs.h"
#include "runtime/session.h"
#include "tensor_compare.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace attune {
namespace {

/// A block between two convolutions, whose first activation is named.
std::string block(const char* activation, const char* dims) {
  return fmt::format(R"(graph "g" {{
  input %x : f32[{}]
  const %a : f32[3, 3, 1, 1] = [1, 2, 3, -1, 0.5, 2, 1, 0, 1]
  const %w : f32[2, 3, 1, 1] = [1, -2, 0.5, 3, 0.25, -1]
  const %v : f32[3, 2, 1, 1] = [3, 4, -1, 0.5, 2, -3]
  const %b : f32[3] = [0.5, -0.5, 0]
  %c = Conv@17(%x, %a) "before"
  %m = GlobalAveragePool@17(%c) "mean"
  %s = Conv@17(%m, %w) "squeeze"
  %t = {}(%s) "activation"
  %e = Conv@17(%t, %v, %b) "excite"
  %g = Sigmoid@17(%e) "gate"
  %p = Mul@17(%c, %g) "gated"
  %y = Conv@17(%p, %a) "after"
  output %y
}})",
                     dims, activation);
}

struct Outcome {
  int blocks = 0, pools = 0;
};

Outcome run(const std::string& text, const SessionOptions& options = {},
            const std::map<std::string, Dims>& shapes = {}) {
  const Graph graph = parse_graph(text);
  const auto inputs = random_inputs(graph, shapes, 3);
  const Session session(graph, options);
  const auto expected = ReferenceExecutor(graph).run(inputs), actual = session.run(inputs);
  EXPECT_EQ(test::compare(actual[0], expected[0], {1e-5, 1e-5}), "");
  Outcome outcome;
  for (const Step& step : session.plan(inputs)->steps) {
    outcome.blocks += step.workload.op == "SqueezeExcite";
    outcome.pools += step.workload.op == "GlobalAveragePool";
  }
  return outcome;
}

TEST(SqueezeExcite, is_one_step_in_every_layout) {
  for (const LayoutChoice layout :
       {LayoutChoice::automatic, LayoutChoice::nchw, LayoutChoice::nhwc, LayoutChoice::blocked}) {
    SessionOptions options;
    options.layout = layout;
    const Outcome outcome = run(block("Relu@17", "2, 3, 7, 5"), options);
    EXPECT_EQ(outcome.blocks, 1);
    EXPECT_EQ(outcome.pools, 0);
  }
}

TEST(SqueezeExcite, is_one_step_for_shapes_that_come_later) {
  EXPECT_EQ(run(block("Relu@17", "N, 3, H, W"), {}, {{"x", {1, 3, 90, 95}}}).blocks, 1);
}

TEST(SqueezeExcite, is_taken_apart_where_the_kernel_lacks_a_function) {
  const Outcome outcome = run(block("Tanh@17", "2, 3, 7, 5"));
  EXPECT_EQ(outcome.blocks, 0);
  EXPECT_EQ(outcome.pools, 1);
}

TEST(SqueezeExcite, is_left_alone_where_somebody_says_so) {
  SessionOptions options;
  options.left_alone["fuse_squeeze_excite"] = {"squeeze"};
  EXPECT_EQ(run(block("Relu@17", "2, 3, 7, 5"), options).blocks, 0);
}

TEST(SqueezeExcite, refuses_operands_that_are_its_own_inputs) {
  for (const char* node :
       {R"(%y = attune::SqueezeExcite@1(%x, %w, %v) "y" {gate_epilogue = strings ["add 0"]})",
        R"(%y = attune::FusedSeparable@1(%x, %d, %w) "y" {group = 3, epilogue = strings ["add 0"]})"}) {
    const std::string text = R"(graph "g" {
  input %x : f32[1, 3, 4, 4]
  const %w : f32[2, 3, 1, 1] = [1, 2, 3, 4, 5, 6]
  const %v : f32[3, 2, 1, 1] = [1, 2, 3, 4, 5, 6]
  const %d : f32[3, 1, 1, 1] = [1, 2, 3]
  )" + std::string(node) + "\n  output %y\n}";
    EXPECT_THROW(infer_graph(parse_graph(text)), UserError) << text;
  }
}

TEST(SqueezeExcite, lets_no_number_that_is_none_disappear) {
  const Graph graph = parse_graph(block("Relu@17", "2, 3, 40, 40"));
  auto inputs = random_inputs(graph, {}, 3);
  inputs[0].mutable_data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const Tensor y = Session(graph, {}).run(inputs)[0];
  const int64_t half = y.count() / 2;
  for (int64_t i = 0; i < half; ++i) ASSERT_TRUE(std::isnan(y.data<float>()[i])) << i;
  for (int64_t i = half; i < y.count(); ++i) ASSERT_FALSE(std::isnan(y.data<float>()[i])) << i;
}

}  // namespace
}  // namespace attune
