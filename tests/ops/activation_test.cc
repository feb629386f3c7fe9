#include "ops/elementwise_case.h"

#include <limits>

namespace attune::test {
namespace {

TEST(Activation, clip_reads_attributes_before_opset_11_and_inputs_after) {
  const Tensor src = f32({3}, {-2, 0.5f, 7});
  expect_near(OpCase("Clip", 6).input(src).attr("min", 0.0f).attr("max", 6.0f).run()[0], f32({3}, {0, 0.5f, 6}));
  expect_near(OpCase("Clip", 13).input(src).no_input().input(f32({}, {6})).run()[0], f32({3}, {-2, 0.5f, 6}));
}

TEST(Activation, clip_with_crossed_bounds_gives_the_upper_one) {
  const Tensor clipped = OpCase("Clip").input(i8({3}, {-5, 0, 5})).input(i8({}, {3})).input(i8({}, {1})).run()[0];
  expect_near(clipped, i8({3}, {1, 1, 1}));
}

TEST(Activation, clip_refuses_bounds_that_are_not_scalars) {
  EXPECT_THROW(OpCase("Clip").input(f32({2}, {1, 2})).input(f32({2}, {0, 0})).run(), UserError);
  EXPECT_THROW(OpCase("Clip").input(f32({2}, {1, 2})).input(f32({0}, {})).run(), UserError);
}

TEST(Activation, prelu_broadcasts_the_slope_only) {
  const Tensor src = f32({2, 2, 1}, {-1, -2, 3, -4});
  expect_near(OpCase("PRelu").input(src).input(f32({2, 1}, {2, 10})).run()[0], f32({2, 2, 1}, {-2, -20, 3, -40}));
  EXPECT_THROW(OpCase("PRelu").input(f32({2, 1}, {1, 2})).input(f32({2, 2, 1}, {1, 2, 3, 4})).run(), UserError);
}

TEST(Activation, softplus_does_not_overflow) {
  expect_near(OpCase("Softplus").input(f32({3}, {200, 0, -200})).run()[0], f32({3}, {200, 0.6931472f, 0}));
}

TEST(Activation, relu_keeps_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_near(OpCase("Relu").input(f32({2}, {nan, -1})).run()[0], f32({2}, {nan, 0}));
}

TEST(Activation, swiglu_needs_equal_shapes) {
  expect_near(OpCase("SwiGLU", 28).input(f32({2}, {0, 100})).input(f32({2}, {3, 2})).run()[0], f32({2}, {0, 200}));
  EXPECT_THROW(OpCase("SwiGLU", 28).input(f32({2}, {0, 1})).input(f32({1}, {3})).run(), UserError);
}

TEST(Activation, gelu_refuses_an_unknown_approximation) {
  EXPECT_THROW(OpCase("Gelu").input(f32({1}, {0})).attr("approximate", std::string("fast")).run(), UserError);
}

}  // namespace
}  // namespace attune::test
