#include "ops/op_case.h"

namespace attune::test {
namespace {

using Ints = std::vector<int64_t>;

OpCase transposed() {
  OpCase result("ConvTranspose");
  result.input(f32({1, 1, 3}, {1, 2, 3})).input(f32({1, 1, 2}, {1, 10}));
  return result;
}

TEST(ConvTranspose, spreads_each_element_over_its_window) {
  expect_near(transposed().run()[0], f32({1, 1, 4}, {1, 12, 23, 30}));
  expect_near(transposed().attr("strides", Ints{3}).attr("output_padding", Ints{1}).run()[0],
              f32({1, 1, 9}, {1, 10, 0, 2, 20, 0, 3, 30, 0}));
  expect_near(transposed().attr("dilations", Ints{2}).attr("pads", Ints{1, 0}).run()[0],
              f32({1, 1, 4}, {2, 13, 20, 30}));
  expect_near(transposed().attr("output_shape", Ints{5}).input(f32({1}, {100})).run()[0],
              f32({1, 1, 5}, {101, 112, 123, 130, 100}));
}

TEST(ConvTranspose, keeps_groups_apart) {
  expect_near(OpCase("ConvTranspose")
                  .input(f32({1, 2, 1}, {1, 2}))
                  .input(f32({2, 1, 2}, {1, 10, 3, 30}))
                  .attr("group", int64_t{2})
                  .run()[0],
              f32({1, 2, 2}, {1, 10, 6, 60}));
}

TEST(ConvTranspose, refuses_bad_attributes) {
  EXPECT_THROW(transposed().attr("pads", Ints{10, 0}).run(), UserError);
  EXPECT_THROW(transposed().attr("output_shape", Ints{-1}).run(), UserError);
  EXPECT_THROW(transposed().attr("output_shape", Ints{int64_t{1} << 50}).run(), UserError);
  EXPECT_THROW(transposed().attr("output_padding", Ints{1, 1}).run(), UserError);
}

TEST(Col2Im, adds_overlapping_blocks) {
  expect_near(OpCase("Col2Im")
                  .input(f32({1, 2, 3}, {1, 2, 3, 10, 20, 30}))
                  .input(i64({2}, {1, 4}))
                  .input(i64({2}, {1, 2}))
                  .run()[0],
              f32({1, 1, 1, 4}, {1, 12, 23, 30}));
  EXPECT_THROW(
      OpCase("Col2Im").input(f32({1, 2, 2}, {1, 2, 3, 4})).input(i64({2}, {1, 4})).input(i64({2}, {1, 2})).run(),
      UserError);
}

}  // namespace
}  // namespace attune::test
