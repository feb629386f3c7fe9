#include "runtime/contiguous_part.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TensorSpec maps(Dims dims, Layout layout, DType dtype = DType::f32) { return {dtype, std::move(dims), layout, false}; }

TEST(ContiguousPart, plain_parts_are_one_piece_behind_dims_of_one) {
  EXPECT_EQ(part_offset(maps({1, 8, 4, 4}, Layout::plain), 1, 3, 5), 3 * 16 * 4);
  EXPECT_EQ(part_offset(maps({6, 16}, Layout::plain), 0, 2, 1), 2 * 16 * 4);
  EXPECT_EQ(part_offset(maps({2, 8, 4, 4}, Layout::plain), 1, 4, 4), std::nullopt);
  EXPECT_EQ(part_offset(maps({1, 8, 4, 4}, Layout::plain), 2, 0, 2), std::nullopt);
}

TEST(ContiguousPart, blocked_parts_are_whole_blocks_of_one_image) {
  EXPECT_EQ(part_offset(maps({1, 64, 3, 5}, Layout::nchw16c), 1, 32, 32), 32 * 15 * 4);
  EXPECT_EQ(part_offset(maps({1, 64, 3, 5}, Layout::nchw16c), 1, 8, 16), std::nullopt);
  EXPECT_EQ(part_offset(maps({1, 64, 3, 5}, Layout::nchw16c), 1, 0, 8), std::nullopt);
  EXPECT_EQ(part_offset(maps({2, 64, 3, 5}, Layout::nchw16c), 1, 32, 32), std::nullopt);
  EXPECT_EQ(part_offset(maps({1, 64, 4, 4}, Layout::nchw16c), 2, 0, 2), std::nullopt);
}

TEST(ContiguousPart, channels_last_parts_are_rows_of_one_image) {
  EXPECT_EQ(part_offset(maps({1, 16, 4, 5}, Layout::nhwc), 2, 1, 2), 5 * 16 * 4);
  EXPECT_EQ(part_offset(maps({1, 16, 4, 5}, Layout::nhwc), 1, 8, 8), std::nullopt);
}

TEST(ContiguousPart, places_are_whole_cache_lines) {
  EXPECT_EQ(part_offset(maps({1, 3, 5}, Layout::plain), 1, 1, 1), std::nullopt);  // 20 bytes
  EXPECT_EQ(part_offset(maps({4, 64}, Layout::plain, DType::u8), 0, 1, 1), 64);
}

}  // namespace
}  // namespace attune
