// Forced layouts: convolutions and what lies between them run in the layout asked for, and every class of operators
// (spec L2) gives the reference's values there, on maps larger than 1x1.
#include "base/random.h"
#include "device/cpu/cpu_info.h"
#include "graph/text.h"
#include "runtime/executor.h"
#include "runtime/random_inputs.h"
#include "runtime/session.h"
#include "tensor_compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace attune {
namespace {

constexpr LayoutChoice kChoices[] = {LayoutChoice::automatic, LayoutChoice::nchw, LayoutChoice::nhwc,
                                     LayoutChoice::blocked};

/// Inputs whose names begin with w become random constants.
Graph with_weights(std::string_view text) {
  Graph graph = parse_graph(text);
  Random random(5);
  std::erase_if(graph.inputs, [&](ValueId id) {
    Value& value = graph.value(id);
    if (!value.name.starts_with('w')) return false;
    Tensor tensor = Tensor::allocate(DType::f32, *concrete(value.shape));
    for (int64_t i = 0; i < tensor.count(); ++i)
      tensor.mutable_data<float>()[i] = static_cast<float>(0.2 * std::fabs(random.normal()) + 0.01);
    value.constant = tensor;
    return true;
  });
  return graph;
}

/// The operators between two convolutions, as text from %a on; the last value is %z.
std::string between_convolutions(const std::string& middle) {
  return R"(graph "g" {
  input %x : f32[2, 16, 6, 5]
  input %w0 : f32[32, 16, 3, 3]
  input %w1 : f32[16, 32, 3, 3]
  input %ws : f32[32]
  input %wb : f32[32]
  %a = Conv@17(%x, %w0) "first" {pads = ints [1, 1, 1, 1]}
)" + middle +
         R"(  %y = Conv@17(%z, %w1) "second"
  output %y
})";
}

/// One operator after a convolution, whose result is the output %y.
std::string after_convolution(const std::string& last) {
  return R"(graph "g" {
  input %x : f32[2, 16, 6, 5]
  input %w0 : f32[32, 16, 3, 3]
  const %axes : i64[2] = [1, 3]
  %r = Conv@17(%x, %w0) "first" {pads = ints [1, 1, 1, 1]}
  %a = Tanh@17(%r) "bounded"
)" + last +
         "  output %y\n}";
}

void expect_reference_values(const std::string& text) {
  const Graph graph = with_weights(text);
  const auto inputs = random_inputs(graph, {}, 3);
  const auto expected = ReferenceExecutor(graph).run(inputs);
  for (const LayoutChoice choice : kChoices) {
    SCOPED_TRACE(static_cast<int>(choice));
    SessionOptions options;
    options.layout = choice;
    const auto actual = Session(graph, options).run(inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(test::compare(actual[i], expected[i], {1e-4, 1e-4}), "") << text;
  }
}

/// The layout of the output of each step that computes a node, by name.
std::map<std::string, Layout> planned_layouts(const std::string& text, LayoutChoice choice) {
  const Graph graph = with_weights(text);
  SessionOptions options;
  options.layout = choice;
  const Session session(graph, options);
  std::map<std::string, Layout> layouts;
  for (const Step& step : session.plan(random_inputs(graph, {}, 3))->steps)
    if (step.node != nullptr) layouts[step.label] = step.workload.output(0).layout;
  return layouts;
}

TEST(Layout, operators_whose_speed_it_decides_have_the_reference_values_in_each) {
  expect_reference_values(between_convolutions("  %z = MaxPool@17(%a) \"pool\" {kernel_shape = ints [2, 2]}\n"));
  expect_reference_values(between_convolutions("  %z = AveragePool@17(%a) \"pool\" {kernel_shape = ints [2, 3]}\n"));
  // Behind an activation, where no convolution takes it in.
  expect_reference_values(
      between_convolutions("  %b = Relu@17(%a) \"relu\"\n"
                           "  %z = BatchNormalization@17(%b, %ws, %wb, %wb, %ws) \"norm\"\n"));
}

TEST(Layout, operators_that_do_not_care_pass_it_on) {
  const std::string text = between_convolutions(
      "  %b = Softsign@17(%a) \"soft\"\n"
      "  %c = Abs@17(%a) \"abs\"\n"
      "  %z = Add@17(%b, %c) \"add\"\n");
  expect_reference_values(text);
}

TEST(Layout, operators_along_axes_have_the_reference_values_after_each) {
  for (const char* last : {
           "  %y = Flatten@17(%a) \"y\"\n",
           "  %y = Flatten@17(%a) \"y\" {axis = 2}\n",
           "  %b = Abs@17(%a) \"b\"\n  %y = Concat@17(%a, %b) \"y\" {axis = 1}\n",
           "  %b = Abs@17(%a) \"b\"\n  %y = Concat@17(%a, %b) \"y\" {axis = -1}\n",
           "  %y = Softmax@17(%a) \"y\" {axis = 1}\n",
           "  %y = Softmax@17(%a) \"y\" {axis = 3}\n",
           "  %y = Softmax@12(%a) \"y\" {axis = 2}\n",
           "  %y = ArgMax@17(%a) \"y\" {axis = 1, keepdims = 0}\n",
           "  %y = ArgMax@17(%a) \"y\" {axis = 2}\n",
           "  %y = ReduceSum@17(%a, %axes) \"y\"\n",
           "  %y = ReduceMean@17(%a) \"y\" {axes = ints [2, 3], keepdims = 0}\n",
           "  %y = ReduceMax@17(%a) \"y\" {axes = ints [1], keepdims = 0}\n",
           "  %y = Transpose@17(%a) \"y\" {perm = ints [0, 2, 3, 1]}\n",
           "  %y = Transpose@17(%a) \"y\" {perm = ints [3, 1, 0, 2]}\n",
           "  %b, %c = Split@17(%a) \"s\" {axis = 1}\n  %y = Concat@17(%c, %b) \"y\" {axis = 2}\n",
           "  %b, %c = Split@17(%a) \"s\" {axis = 2}\n  %y = Sub@17(%c, %b) \"y\"\n",
       })
    expect_reference_values(after_convolution(last));
}

TEST(Layout, an_operator_along_an_axis_between_convolutions_has_the_reference_values) {
  expect_reference_values(between_convolutions("  %b = Tanh@17(%a) \"b\"\n  %z = Softmax@17(%b) \"z\" {axis = 1}\n"));
  expect_reference_values(
      between_convolutions("  %m = ReduceMax@17(%a) \"m\" {axes = ints [1]}\n"
                           "  %z = Sub@17(%a, %m) \"z\"\n"));
}

TEST(Layout, is_the_one_asked_for_where_a_provider_has_it) {
  const std::string text = between_convolutions("  %z = MaxPool@17(%a) \"pool\" {kernel_shape = ints [2, 2]}\n");
  for (const auto& [step, layout] : planned_layouts(text, LayoutChoice::nchw)) EXPECT_EQ(layout, Layout::plain) << step;
#ifdef ATTUNE_HAS_ONEDNN
  for (const auto& [step, layout] : planned_layouts(text, LayoutChoice::nhwc)) EXPECT_EQ(layout, Layout::nhwc) << step;
  for (const auto& [step, layout] : planned_layouts(text, LayoutChoice::blocked))
    EXPECT_TRUE(layout == Layout::nchw16c || layout == Layout::nchw8c) << step;
#endif
}

#ifdef ATTUNE_HAS_ONEDNN
TEST(Layout, a_transpose_that_says_what_channels_last_means_is_no_step) {
  const std::string text = R"(graph "g" {
  input %x : f32[2, 6, 5, 16]
  input %w0 : f32[32, 16, 3, 3]
  %a = Transpose@17(%x) "to channels first" {perm = ints [0, 3, 1, 2]}
  %b = Conv@17(%a, %w0) "conv"
  %c = Softsign@17(%b) "soft"
  %y = Transpose@17(%c) "to channels last" {perm = ints [0, 2, 3, 1]}
  output %y
})";
  expect_reference_values(text);
  const auto in = [&](LayoutChoice choice) {
    std::set<std::string> names;
    for (const auto& [step, layout] : planned_layouts(text, choice)) names.insert(step);
    return names;
  };
  EXPECT_EQ(in(LayoutChoice::nhwc), (std::set<std::string>{"conv", "soft"}));
  EXPECT_EQ(in(LayoutChoice::nchw).size(), 4u);
}

TEST(Layout, a_branch_through_channels_last_tensors_joins_the_map_without_a_step) {
  // A block of ConvNeXt: the branch ends in a product over the last axis, the map goes around it.
  const std::string text = R"(graph "g" {
  input %x : f32[2, 16, 6, 5]
  input %w0 : f32[16, 16, 3, 3]
  input %w1 : f32[16, 16]
  input %w2 : f32[8, 16, 1, 1]
  %a = Conv@17(%x, %w0) "conv" {pads = ints [1, 1, 1, 1]}
  %b = Transpose@17(%a) "to channels last" {perm = ints [0, 2, 3, 1]}
  %c = MatMul@17(%b, %w1) "product"
  %d = Transpose@17(%c) "to channels first" {perm = ints [0, 3, 1, 2]}
  %e = Add@17(%a, %d) "sum"
  %y = Conv@17(%e, %w2) "after"
  output %y
})";
  expect_reference_values(text);
  for (const auto& [step, layout] : planned_layouts(text, LayoutChoice::nhwc))
    EXPECT_TRUE(step == "conv" || step == "product" || step == "sum" || step == "after" || step.starts_with("x "))
        << step;
}

TEST(Layout, a_cast_before_a_convolution_converts_the_layout_on_its_way) {
  if (!has_isa(cpu_info(), "avx512bw")) GTEST_SKIP() << "the library has no convolutions of bf16 here";
  const Graph graph = with_weights(R"(graph "g" {
  input %x : f32[2, 16, 6, 5]
  input %w0 : f32[32, 16, 3, 3]
  %y = Conv@17(%x, %w0) "conv"
  output %y
})");
  SessionOptions options;
  options.layout = LayoutChoice::nhwc;
  options.dtype = DType::bf16;
  const Session session(graph, options);
  const auto plan = session.plan(random_inputs(graph, {}, 3));
  ASSERT_FALSE(plan->steps.empty());
  EXPECT_EQ(plan->steps[0].workload.op, "Cast");
  EXPECT_EQ(plan->steps[0].workload.output(0).layout, Layout::nhwc);
}

TEST(Layout, other_transposes_between_channels_last_maps_have_the_reference_values) {
  for (const char* perm : {"0, 3, 2, 1", "0, 1, 3, 2", "1, 0, 2, 3", "0, 2, 3, 1", "3, 0, 1, 2"})
    expect_reference_values(
        after_convolution(std::string("  %y = Transpose@17(%a) \"y\" {perm = ints [") + perm + "]}\n"));
  expect_reference_values(R"(graph "g" {
  input %x : f32[2, 6, 1, 16]
  input %w0 : f32[32, 16, 3, 1]
  %a = Transpose@17(%x) "a" {perm = ints [0, 3, 1, 2]}
  %b = Conv@17(%a, %w0) "conv"
  %y = Transpose@17(%b) "y" {perm = ints [2, 0, 3, 1]}
  output %y
  output %a
})");
}
#endif

}  // namespace
}  // namespace attune
