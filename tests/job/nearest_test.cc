#include "job/nearest.h"

#include "kernel/parse_workload.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

double distance(const std::string& a, const std::string& b) {
  return workload_distance(parse_workload(a), parse_workload(b)).value_or(-1);
}

TEST(WorkloadDistance, grows_with_the_quotients_of_dims) {
  const std::string small = "MatMul@13(f32[64x64], f32[64x64]*) -> (f32[64x64])";
  const std::string tall = "MatMul@13(f32[128x64], f32[64x64]*) -> (f32[128x64])";
  const std::string large = "MatMul@13(f32[512x64], f32[64x64]*) -> (f32[512x64])";
  EXPECT_EQ(distance(small, small), 0);
  EXPECT_NEAR(distance(small, tall), 2 * std::log(2), 1e-9);
  EXPECT_LT(distance(small, tall), distance(small, large));
  EXPECT_EQ(distance(small, large), distance(large, small));
}

TEST(WorkloadDistance, is_none_between_other_operators_dtypes_and_ranks) {
  const std::string matmul = "MatMul@13(f32[64x64], f32[64x64]*) -> (f32[64x64])";
  EXPECT_EQ(distance(matmul, "Add@14(f32[64x64], f32[64x64]*) -> (f32[64x64])"), -1);
  EXPECT_EQ(distance(matmul, "MatMul@13(bf16[64x64], bf16[64x64]*) -> (bf16[64x64])"), -1);
  EXPECT_EQ(distance(matmul, "MatMul@13(f32[1x64x64], f32[64x64]*) -> (f32[1x64x64])"), -1);
}

TEST(WorkloadDistance, counts_layouts_and_attributes) {
  const std::string plain = "Conv@11(f32[1x8x9x9], f32[8x8x3x3]*) -> (f32[1x8x9x9]) {pads = ints [1, 1, 1, 1]}";
  const std::string nhwc =
      "Conv@11(f32[1x8x9x9]@nhwc, f32[8x8x3x3]*) -> (f32[1x8x9x9]@nhwc) {pads = ints [1, 1, 1, 1]}";
  EXPECT_EQ(distance(plain, nhwc), 2);
}

}  // namespace
}  // namespace attune
