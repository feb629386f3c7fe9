#include "ops/op_case.h"

namespace attune::test {
namespace {

using Ints = std::vector<int64_t>;

TEST(MaxRoiPool, pools_bins_of_a_region) {
  const auto pool = [](Tensor rois) {
    return OpCase("MaxRoiPool")
        .input(f32({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}))
        .input(std::move(rois))
        .attr("pooled_shape", Ints{1, 2})
        .run()[0];
  };
  expect_near(pool(f32({1, 5}, {0, 0, 0, 3, 1})), f32({1, 1, 1, 2}, {6, 8}));
  expect_near(pool(f32({1, 5}, {0, 50, 50, 60, 60})), f32({1, 1, 1, 2}, {0, 0}));
  EXPECT_THROW(pool(f32({1, 5}, {1, 0, 0, 3, 1})), UserError);
  EXPECT_THROW(pool(f32({1, 5}, {0, std::nanf(""), 0, 3, 1})), UserError);
}

TEST(RoiAlign, averages_interpolated_samples) {
  const auto align = [](Tensor rois, int64_t image) {
    return OpCase("RoiAlign", 16)
        .input(f32({1, 1, 2, 2}, {1, 2, 3, 4}))
        .input(std::move(rois))
        .input(i64({1}, {image}))
        .run()[0];
  };
  expect_near(align(f32({1, 4}, {0, 0, 2, 2}), 0), f32({1, 1, 1, 1}, {2.5}));
  EXPECT_THROW(align(f32({1, 4}, {0, 0, 2, 2}), 1), UserError);
  EXPECT_THROW(align(f32({1, 4}, {0, 0, 1e30f, 2}), 0), UserError);
  EXPECT_THROW(align(f32({1, 4}, {0, std::nanf(""), 2, 2}), 0), UserError);
}

}  // namespace
}  // namespace attune::test
