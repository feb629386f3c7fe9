#include "ops/op_case.h"

#include "base/error.h"

#include <limits>
#include <numeric>

namespace attune::test {
namespace {

Tensor iota(Dims dims) {
  Tensor tensor = Tensor::allocate(DType::f32, std::move(dims));
  std::iota(tensor.mutable_data<float>(), tensor.mutable_data<float>() + tensor.count(), 0.0f);
  return tensor;
}

TEST(Reduce, sums_over_inner_outer_and_middle_axes) {
  const Tensor src = iota({2, 3, 4});
  expect_near(OpCase("ReduceSum").input(src).input(i64({1}, {2})).run()[0], f32({2, 3, 1}, {6, 22, 38, 54, 70, 86}));
  expect_near(OpCase("ReduceSum").input(src).input(i64({1}, {0})).attr("keepdims", int64_t{0}).run()[0],
              f32({3, 4}, {12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34}));
  expect_near(OpCase("ReduceSum").input(src).input(i64({1}, {-2})).attr("keepdims", int64_t{0}).run()[0],
              f32({2, 4}, {12, 15, 18, 21, 48, 51, 54, 57}));
  expect_near(OpCase("ReduceSum").input(src).input(i64({2}, {0, 2})).attr("keepdims", int64_t{0}).run()[0],
              f32({3}, {60, 92, 124}));
}

TEST(Reduce, cuts_large_reductions_into_chunks_without_losing_elements) {
  Tensor ones = Tensor::allocate(DType::f32, {300001, 3});
  for (int64_t i = 0; i < ones.count(); ++i) ones.mutable_data<float>()[i] = static_cast<float>(i % 3);
  expect_near(OpCase("ReduceSum").input(ones).attr("keepdims", int64_t{0}).run()[0], f32({}, {900003}), 0);
  expect_near(OpCase("ReduceSum").input(ones).input(i64({1}, {0})).attr("keepdims", int64_t{0}).run()[0],
              f32({3}, {0, 300001, 600002}), 0);
}

TEST(Reduce, reads_the_axes_attribute_of_old_opsets) {
  expect_near(OpCase("ReduceMean", 11).input(iota({2, 2})).attr("axes", std::vector<int64_t>{1}).run()[0],
              f32({2, 1}, {0.5f, 2.5f}));
}

TEST(Reduce, applies_the_element_step_when_no_axes_and_noop) {
  expect_near(OpCase("ReduceSumSquare").input(f32({2}, {3, -4})).attr("noop_with_empty_axes", int64_t{1}).run()[0],
              f32({2}, {9, 16}));
}

TEST(Reduce, gives_the_identity_for_an_empty_set) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor empty = Tensor::allocate(DType::f32, {2, 0});
  const auto reduced = [&](const char* op) { return OpCase(op).input(empty).input(i64({1}, {1})).run()[0]; };
  expect_near(reduced("ReduceProd"), f32({2, 1}, {1, 1}));
  EXPECT_EQ(reduced("ReduceMax").data<float>()[0], -infinity);
  EXPECT_EQ(reduced("ReduceLogSumExp").data<float>()[1], -infinity);
}

TEST(Reduce, keeps_log_sum_exp_finite_for_large_values) {
  expect_near(OpCase("ReduceLogSumExp").input(f32({1, 2}, {1000, 1000})).input(i64({1}, {1})).run()[0],
              f32({1, 1}, {1000.6931f}));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(OpCase("ReduceLogSumExp").input(f32({3}, {infinity, 1, infinity})).run()[0].data<float>()[0], infinity);
}

TEST(Reduce, truncates_integer_means_and_wraps_integer_sums) {
  expect_near(OpCase("ReduceMean").input(i64({3}, {-1, -1, -3})).run()[0], i64({1}, {-1}));
  const int64_t most = std::numeric_limits<int64_t>::max();
  expect_near(OpCase("ReduceSum").input(i64({2}, {most, 1})).run()[0], i64({1}, {std::numeric_limits<int64_t>::min()}));
}

TEST(Reduce, refuses_an_axis_out_of_range) {
  EXPECT_THROW(OpCase("ReduceSum").input(iota({2, 2})).input(i64({1}, {2})).run(), UserError);
}

TEST(ArgReduce, picks_the_first_or_last_index_of_ties) {
  const Tensor src = f32({2, 3}, {1, 5, 5, 4, 4, 2});
  expect_near(OpCase("ArgMax").input(src).attr("axis", int64_t{1}).run()[0], i64({2, 1}, {1, 0}));
  expect_near(OpCase("ArgMax").input(src).attr("axis", int64_t{-1}).attr("select_last_index", int64_t{1}).run()[0],
              i64({2, 1}, {2, 1}));
  expect_near(OpCase("ArgMin").input(src).attr("keepdims", int64_t{0}).run()[0], i64({3}, {0, 1, 1}));
}

TEST(ArgReduce, refuses_an_empty_axis) {
  EXPECT_THROW(OpCase("ArgMax").input(Tensor::allocate(DType::f32, {2, 0})).attr("axis", int64_t{1}).run(), UserError);
}

}  // namespace
}  // namespace attune::test
