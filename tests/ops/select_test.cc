#include "ops/op_case.h"

namespace attune::test {
namespace {

TEST(NonZero, lists_indices_by_axis) {
  expect_near(OpCase("NonZero").input(f32({2, 2}, {0, 1, 2, 0})).run()[0], i64({2, 2}, {0, 1, 1, 0}));
  EXPECT_EQ(OpCase("NonZero").input(f32({}, {3})).run()[0].dims(), (Dims{0, 1}));
  EXPECT_EQ(OpCase("NonZero").input(f32({0, 3}, {})).run()[0].dims(), (Dims{2, 0}));
}

TEST(Compress, takes_a_condition_shorter_than_the_axis) {
  const bool condition[] = {false, true};
  const Tensor mask = Tensor::from<bool>({2}, condition);
  expect_near(OpCase("Compress").input(f32({1, 3}, {1, 2, 3})).input(mask).attr("axis", int64_t{1}).run()[0],
              f32({1, 1}, {2}));
  EXPECT_THROW(OpCase("Compress").input(f32({1}, {1})).input(mask).run(), UserError);
}

TEST(TopK, breaks_ties_by_index_and_puts_nan_on_top) {
  const auto largest = OpCase("TopK").input(f32({5}, {1, 3, NAN, 3, 0})).input(i64({1}, {3})).outputs(2).run();
  expect_near(largest[0], f32({3}, {NAN, 3, 3}));
  expect_near(largest[1], i64({3}, {2, 1, 3}));
  const auto smallest = OpCase("TopK")
                            .input(f32({4, 1}, {2, 1, 1, 5}))
                            .input(i64({1}, {3}))
                            .attr("axis", int64_t{0})
                            .attr("largest", int64_t{0})
                            .outputs(2)
                            .run();
  expect_near(smallest[1], i64({3, 1}, {1, 2, 0}));
}

TEST(TopK, refuses_more_than_there_are) {
  EXPECT_THROW(OpCase("TopK").input(f32({2}, {1, 2})).input(i64({1}, {3})).outputs(2).run(), UserError);
  EXPECT_THROW(OpCase("TopK").input(f32({2}, {1, 2})).input(i64({1}, {-1})).outputs(2).run(), UserError);
}

TEST(Unique, gives_slices_in_both_orders) {
  const Tensor x = f32({3, 2}, {5, 1, 2, 0, 5, 1});
  const auto sorted = OpCase("Unique").input(x).attr("axis", int64_t{0}).outputs(4).run();
  expect_near(sorted[0], f32({2, 2}, {2, 0, 5, 1}));
  expect_near(sorted[1], i64({2}, {1, 0}));
  expect_near(sorted[2], i64({3}, {1, 0, 1}));
  expect_near(sorted[3], i64({2}, {1, 2}));
  const auto unsorted = OpCase("Unique").input(x).attr("axis", int64_t{0}).attr("sorted", int64_t{0}).outputs(4).run();
  expect_near(unsorted[0], f32({2, 2}, {5, 1, 2, 0}));
  expect_near(unsorted[2], i64({3}, {0, 1, 0}));
  EXPECT_EQ(OpCase("Unique").input(f32({0}, {})).run()[0].dims(), Dims{0});
}

TEST(OneHot, leaves_rows_without_a_valid_index_off) {
  expect_near(OpCase("OneHot").input(i64({3}, {-1, 5, 0})).input(i64({}, {2})).input(f32({2}, {0, 1})).run()[0],
              f32({3, 2}, {0, 1, 0, 0, 1, 0}));
  EXPECT_THROW(OpCase("OneHot").input(i64({1}, {0})).input(i64({}, {-2})).input(f32({2}, {0, 1})).run(), UserError);
}

TEST(NonMaxSuppression, keeps_the_best_of_overlapping_boxes) {
  const Tensor boxes = f32({1, 3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.9f, 0, 2, 1, 3});
  const Tensor scores = f32({1, 1, 3}, {0.5f, 0.9f, NAN});
  const Tensor out =
      OpCase("NonMaxSuppression").input(boxes).input(scores).input(i64({1}, {5})).input(f32({1}, {0.5f})).run()[0];
  expect_near(out, i64({2, 3}, {0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(OpCase("NonMaxSuppression").input(boxes).input(scores).run()[0].dims(), (Dims{0, 3}));
}

}  // namespace
}  // namespace attune::test
