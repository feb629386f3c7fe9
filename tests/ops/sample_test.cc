#include "ops/op_case.h"

namespace attune::test {
namespace {

Tensor sample(std::initializer_list<float> points, const std::string& mode, const std::string& padding) {
  const auto count = static_cast<int64_t>(points.size());
  return OpCase("GridSample", 20)
      .input(f32({1, 1, 4}, {1, 2, 4, 8}))
      .input(f32({1, count, 1}, points))
      .attr("mode", mode)
      .attr("padding_mode", padding)
      .attr("align_corners", int64_t{1})
      .run()[0];
}

TEST(GridSample, interpolates_along_one_axis) {
  expect_near(sample({-1, 0, 1}, "linear", "zeros"), f32({1, 1, 3}, {1, 3, 8}));
  expect_near(sample({-1, 0.5, 1}, "nearest", "zeros"), f32({1, 1, 3}, {1, 4, 8}));
}

TEST(GridSample, pads_outside_points_however_far) {
  const float infinity = std::numeric_limits<float>::infinity();
  expect_near(sample({3, -1e30f, infinity, std::nanf("")}, "linear", "zeros"), f32({1, 1, 4}, {0, 0, 0, 0}));
  expect_near(sample({3, -1e30f, infinity}, "linear", "border"), f32({1, 1, 3}, {8, 1, 8}));
  expect_near(sample({3, -3}, "nearest", "reflection"), f32({1, 1, 2}, {1, 8}));
  for (const char* mode : {"nearest", "linear", "cubic"})
    EXPECT_EQ(sample({1e30f, -infinity, std::nanf("")}, mode, "reflection").count(), 3);
}

TEST(AffineGrid, gives_the_identity_grid) {
  expect_near(OpCase("AffineGrid", 20).input(f32({1, 2, 3}, {1, 0, 0, 0, 1, 0})).input(i64({4}, {1, 1, 1, 2})).run()[0],
              f32({1, 1, 2, 2}, {-0.5, 0, 0.5, 0}));
  EXPECT_THROW(OpCase("AffineGrid", 20).input(f32({1, 2, 3}, {1, 0, 0, 0, 1, 0})).input(i64({3}, {1, 1, 2})).run(),
               UserError);
}

}  // namespace
}  // namespace attune::test
