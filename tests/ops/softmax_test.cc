#include "ops/op_case.h"

#include "base/error.h"

namespace attune::test {
namespace {

TEST(Softmax, normalizes_along_the_last_axis_by_default) {
  expect_near(OpCase("Softmax").input(f32({1, 2, 2}, {0, 0, 1, 1})).run()[0], f32({1, 2, 2}, {0.5f, 0.5f, 0.5f, 0.5f}));
}

TEST(Softmax, joins_all_axes_from_the_given_one_before_opset_13) {
  expect_near(OpCase("Softmax", 11).input(f32({1, 2, 2}, {3, 3, 3, 3})).run()[0],
              f32({1, 2, 2}, {0.25f, 0.25f, 0.25f, 0.25f}));
}

TEST(Softmax, stays_finite_for_large_values_along_an_outer_axis) {
  expect_near(OpCase("Softmax").input(f32({2, 2}, {10000, 1, 10000, 1})).attr("axis", int64_t{0}).run()[0],
              f32({2, 2}, {0.5f, 0.5f, 0.5f, 0.5f}));
  expect_near(OpCase("LogSoftmax").input(f32({1, 2}, {10000, 10000})).run()[0], f32({1, 2}, {-0.693147f, -0.693147f}));
}

TEST(Softmax, accepts_empty_tensors) {
  EXPECT_EQ(OpCase("Softmax").input(Tensor::allocate(DType::f32, {2, 0})).run()[0].count(), 0);
}

TEST(Softmax, refuses_an_axis_out_of_range) {
  EXPECT_THROW(OpCase("Softmax").input(f32({2}, {1, 2})).attr("axis", int64_t{1}).run(), UserError);
}

TEST(Hardmax, marks_the_first_largest_element) {
  expect_near(OpCase("Hardmax").input(f32({2, 3}, {1, 3, 3, 2, 1, 0})).run()[0], f32({2, 3}, {0, 1, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace attune::test
