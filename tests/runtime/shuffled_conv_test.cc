// attune::ShuffledConv in sessions: one generated kernel where one is compiled, its parts elsewhere; and how it refuses
// what it cannot be.
#include "codegen/compiler_module.h"
#include "codegen/isa.h"
#include "graph/text.h"
#include "ops/infer_graph.h"
#include "runtime/random_inputs.h"
#include "runtime/session.h"
#include "tensor_compare.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

namespace attune {
namespace {

/// Two units of ShuffleNet's kind on maps of so many pixels; `dims` are those of the input behind the channels.
Graph units(const char* dims) {
  return parse_graph(fmt::format(R"(graph "g" {{
  input %x : f32[1, 3, {}]
  const %w : f32[3, 3, 1, 1] = [1, 2, 3, -1, 0.5, 2, 1, 0, 1]
  %a, %b = attune::ChannelShuffle@1(%x, %x) "begin" {{groups = 2, split = ints [3, 3]}}
  %c = Conv@17(%b, %w) "first"
  %d = Relu@17(%c) "relu"
  %e, %f = attune::ChannelShuffle@1(%a, %d) "mix" {{groups = 2, split = ints [3, 3]}}
  %h = Conv@17(%f, %w) "second"
  %y = attune::ChannelShuffle@1(%h, %e) "end" {{groups = 2}}
  output %y
}})",
                                 dims));
}

int count_of(const std::vector<Step>& steps, std::string_view op) {
  return static_cast<int>(std::ranges::count(steps, op, [](const Step& step) { return step.workload.op; }));
}

struct Outcome {
  int fused = 0, shuffles = 0;
};

Outcome run(const Graph& graph, const SessionOptions& options = {}, const std::map<std::string, Dims>& shapes = {}) {
  const auto inputs = random_inputs(graph, shapes, 3);
  const Session session(graph, options);
  const auto expected = ReferenceExecutor(graph).run(inputs), actual = session.run(inputs);
  EXPECT_EQ(test::compare(actual[0], expected[0], {1e-5, 1e-5}), "");
  const auto plan = session.plan(inputs);
  return {count_of(plan->steps, "ShuffledConv"), count_of(plan->steps, "ChannelShuffle")};
}

bool has_vectors() { return missing_compiler().empty() && usable_isa() >= Isa::avx2; }

TEST(ShuffledConv, is_one_step_where_it_is_worth_compiling) {
  if (!has_vectors()) GTEST_SKIP() << "nothing is compiled here: " << missing_compiler();
  SessionOptions options;
  options.layout = LayoutChoice::nhwc;
  const Outcome outcome = run(units("80, 90"), options);
  EXPECT_EQ(outcome.fused, 2);
  EXPECT_EQ(outcome.shuffles, 1);
}

TEST(ShuffledConv, is_taken_apart_for_small_maps_other_layouts_and_shapes_that_come_later) {
  const Outcome small = run(units("4, 5"));
  EXPECT_EQ(small.fused, 0);
  EXPECT_EQ(small.shuffles, 3);
  for (const LayoutChoice layout : {LayoutChoice::nchw, LayoutChoice::blocked}) {
    SessionOptions options;
    options.layout = layout;
    EXPECT_EQ(run(units("80, 90"), options).fused, 0);
  }
  EXPECT_EQ(run(units("H, W"), {}, {{"x", {1, 3, 80, 90}}}).fused, 0);
}

TEST(ShuffledConv, is_left_alone_where_somebody_says_so) {
  SessionOptions options;
  options.layout = LayoutChoice::nhwc;
  options.left_alone["fuse_shuffles"] = {"mix", "end"};
  EXPECT_EQ(run(units("80, 90"), options).fused, 0);
}

TEST(ShuffledConv, refuses_what_it_cannot_be) {
  const auto message = [](const std::string& attributes, const char* beside) {
    const std::string text = fmt::format(R"(graph "g" {{
  input %x : f32[1, 2, 4, 4]
  input %o : f32[1, 3, 4, 4]
  input %p : f32[1, 4, 4, 4]
  input %i : i32[1, 3, 4, 4]
  const %w : f32[3, 2, 1, 1] = [1, 2, 3, 4, 5, 6]
  %u, %v = attune::ShuffledConv@1(%x, %w, {}) "fused" {{{}}}
  output %u
  output %v
}})",
                                         beside, attributes);
    try {
      infer_graph(parse_graph(text));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(message("split = ints [2, 4]", "%o"), "taken");
  EXPECT_NE(message("split = ints [2, 3]", "%o").find("covers 5 of 6 channels"), std::string::npos);
  EXPECT_NE(message("split = ints [0, 6]", "%o").find("into parts"), std::string::npos);
  EXPECT_NE(message("turn = \"first\"", "%o").find("1 entries for 2 outputs"), std::string::npos);
  EXPECT_NE(message("split = ints [2, 4], turn = \"third\"", "%o").find("expected first or second"), std::string::npos);
  EXPECT_NE(message("split = ints [2, 4], epilogue = strings [\"add 2\"]", "%o").find("epilogue step 'add 2'"),
            std::string::npos);
  EXPECT_NE(message("split = ints [2, 4]", "%p"), "taken");
  EXPECT_NE(message("split = ints [2, 4]", "%i").find("i32"), std::string::npos);
}

}  // namespace
}  // namespace attune
