#include "ops/elementwise_case.h"

#include <limits>

namespace attune::test {
namespace {

TEST(Variadic, folds_broadcast_inputs_of_any_number) {
  const Tensor column = f32({2, 1}, {1, 5}), row = f32({3}, {2, 4, 6}), scalar = f32({}, {3});
  expect_near(OpCase("Max").input(column).input(scalar).input(row).run()[0], f32({2, 3}, {3, 4, 6, 5, 5, 6}));
  expect_near(OpCase("Sum").input(column).input(row).input(scalar).run()[0], f32({2, 3}, {6, 8, 10, 10, 12, 14}));
  expect_near(OpCase("Mean").input(row).input(scalar).run()[0], f32({3}, {2.5f, 3.5f, 4.5f}));
  expect_near(OpCase("Min").input(row).run()[0], row);
}

TEST(Variadic, max_and_min_keep_nan) {
  const Tensor nan = f32({1}, {std::numeric_limits<float>::quiet_NaN()}), one = f32({1}, {1});
  for (const char* op : {"Max", "Min"}) {
    expect_near(OpCase(op).input(nan).input(one).run()[0], nan);
    expect_near(OpCase(op).input(one).input(nan).run()[0], nan);
  }
}

TEST(Variadic, where_broadcasts_three_ways) {
  const Tensor chosen =
      OpCase("Where").input(bools({2, 1}, {true, false})).input(i64({3}, {1, 2, 3})).input(i64({}, {9})).run()[0];
  expect_near(chosen, i64({2, 3}, {1, 2, 3, 9, 9, 9}));
}

}  // namespace
}  // namespace attune::test
