#include "ops/gemm.h"

#include "ops/gemm_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace attune {
namespace {

std::vector<float> random_values(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

void expect_product(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b) {
  const int64_t dst_row_stride = n + 3;
  std::vector<float> dst(static_cast<size_t>(m * dst_row_stride), 77.0f);
  gemm(m, n, k, a, b, dst.data(), dst_row_stride);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < dst_row_stride; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k && j < n; ++p)
        sum += static_cast<double>(a.data[i * a.row_stride + p * a.column_stride]) *
               static_cast<double>(b.data[p * b.row_stride + j * b.column_stride]);
      const double expected = j < n ? sum : 77.0;  // nothing is written beyond a row
      ASSERT_NEAR(dst[static_cast<size_t>(i * dst_row_stride + j)], expected, 1e-6 * (1 + std::fabs(expected)))
          << m << "x" << n << "x" << k << " at " << i << ", " << j;
    }
  }
}

TEST(Gemm, agrees_with_the_plain_sum_on_odd_shapes_and_any_strides) {
  const int64_t sizes[][3] = {{1, 1, 1},  {1, 40, 3},   {3, 17, 5},    {4, 600, 9},   {5, 1, 300}, {9, 2, 7},
                              {7, 19, 1}, {13, 33, 11}, {40, 50, 200}, {130, 70, 30}, {8, 16, 0},  {20, 300, 400}};
  for (const auto& [m, n, k] : sizes) {
    const auto left = random_values(static_cast<size_t>(m * k * 2 + 1), 1);
    const auto right = random_values(static_cast<size_t>(k * n * 2 + 1), 2);
    expect_product(m, n, k, {left.data(), k, 1}, {right.data(), n, 1});
    expect_product(m, n, k, {left.data(), 1, m}, {right.data(), n, 1});
    expect_product(m, n, k, {left.data(), k, 1}, {right.data(), 1, k});
    expect_product(m, n, k, {left.data(), 1, m}, {right.data(), 1, k});
    expect_product(m, n, k, {left.data(), 2 * k, 2}, {right.data(), 2 * n, 2});
    expect_product(m, n, k, {left.data(), 0, 1}, {right.data(), n, 1});
  }
}

TEST(Gemm, keeps_not_a_number_and_infinity_in_their_row_and_column) {
  const int64_t m = 9, n = 18, k = 5;
  std::vector<float> a(static_cast<size_t>(m * k), 1.0f), b(static_cast<size_t>(k * n), 1.0f);
  a[2 * k + 1] = std::numeric_limits<float>::quiet_NaN();
  b[3 * n + 17] = std::numeric_limits<float>::infinity();
  std::vector<float> dst(static_cast<size_t>(m * n));
  gemm(m, n, k, MatrixView<float>{a.data(), k, 1}, MatrixView<float>{b.data(), n, 1}, dst.data(), n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const float value = dst[static_cast<size_t>(i * n + j)];
      if (i == 2)
        EXPECT_TRUE(std::isnan(value));
      else if (j == 17)
        EXPECT_TRUE(std::isinf(value));
      else
        EXPECT_EQ(value, 5.0f);
    }
  }
}

TEST(GemmKernels, of_every_instruction_set_agree) {
  for (const GemmKernels<float>& kernels : gemm_kernels<float>()) {
    const int64_t depth = 37, lines = kernels.tile_columns - 1;
    const auto left = random_values(static_cast<size_t>(kernels.tile_rows * depth), 3);
    const auto right = random_values(static_cast<size_t>(depth * lines), 4);
    std::vector<double> a(static_cast<size_t>(kernels.tile_rows * depth));
    std::vector<double> b(static_cast<size_t>(kernels.tile_columns * depth));
    std::vector<double> tile(static_cast<size_t>(kernels.tile_rows * kernels.tile_columns));
    kernels.pack_a(left.data(), depth, 1, kernels.tile_rows, depth, a.data());
    kernels.pack_b(right.data(), 1, lines, lines, depth, b.data());
    kernels.multiply_tile(depth, a.data(), b.data(), tile.data(), TileStart::zero);
    kernels.multiply_tile(depth, a.data(), b.data(), tile.data(), TileStart::accumulate);
    for (int64_t i = 0; i < kernels.tile_rows; ++i) {
      for (int64_t j = 0; j < kernels.tile_columns; ++j) {
        std::vector<float> column(static_cast<size_t>(depth), 0.0f);
        for (int64_t p = 0; p < depth && j < lines; ++p)
          column[static_cast<size_t>(p)] = right[static_cast<size_t>(p * lines + j)];
        const double expected = 2 * kernels.dot(depth, left.data() + i * depth, column.data());
        EXPECT_NEAR(tile[static_cast<size_t>(i * kernels.tile_columns + j)], expected, 1e-12) << kernels.name;
      }
    }
    std::vector<double> sums(static_cast<size_t>(lines), 1.0);
    kernels.add_scaled(lines, 2.0, right.data(), sums.data());
    for (size_t j = 0; j < sums.size(); ++j)
      EXPECT_NEAR(sums[j], 1.0 + 2.0 * static_cast<double>(right[j]), 1e-12) << kernels.name;
  }
}

}  // namespace
}  // namespace attune
