#include "ops/op_case.h"

namespace attune::test {
namespace {

TEST(CumSum, runs_along_outer_axes_backwards) {
  expect_near(OpCase("CumSum")
                  .input(f32({2, 2}, {1, 2, 3, 4}))
                  .input(i64({}, {0}))
                  .attr("reverse", int64_t{1})
                  .attr("exclusive", int64_t{1})
                  .run()[0],
              f32({2, 2}, {3, 4, 0, 0}));
}

TEST(CumSum, wraps_integers) {
  expect_near(OpCase("CumSum").input(i64({2}, {INT64_MAX, 1})).input(i64({1}, {-1})).run()[0],
              i64({2}, {INT64_MAX, INT64_MIN}));
}

TEST(CumSum, refuses_an_axis_outside) {
  EXPECT_THROW(OpCase("CumSum").input(f32({2}, {1, 2})).input(i64({}, {1})).run(), UserError);
  EXPECT_THROW(OpCase("CumSum").input(f32({2}, {1, 2})).input(i64({2}, {0, 0})).run(), UserError);
}

TEST(CumProd, starts_from_one) {
  expect_near(
      OpCase("CumProd", 26).input(f32({3}, {2, 3, 4})).input(i64({}, {0})).attr("exclusive", int64_t{1}).run()[0],
      f32({3}, {1, 2, 6}));
}

}  // namespace
}  // namespace attune::test
