// The inner loops of the matrix product, one set for each instruction set; chosen at run time, because the build itself
// targets the baseline of the architecture.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace attune {

enum class TileStart { zero, accumulate };

/// A panel is `width` lines (rows of a, or columns of b) of `depth` elements, interleaved so that the `width` elements
/// of one depth are adjacent, converted to double, lines beyond the matrix zero.
template <class T> using PackPanel = void (*)(const T* src, int64_t line_stride, int64_t depth_stride, int64_t lines,
                                              int64_t depth, double* panel);

template <class T> struct GemmKernels {
  std::string_view name;
  int64_t tile_rows;
  int64_t tile_columns;
  PackPanel<T> pack_a;  // panels of tile_rows lines
  PackPanel<T> pack_b;  // panels of tile_columns lines
  /// tile (tile_rows x tile_columns, row-major) = or += panel of a times panel of b.
  void (*multiply_tile)(int64_t depth, const double* a, const double* b, double* tile, TileStart start);
  /// sums[j] += factor * row[j].
  void (*add_scaled)(int64_t count, double factor, const T* row, double* sums);
  /// Sum of x[i] * y[i].
  double (*dot)(int64_t count, const T* x, const T* y);
};

/// Those this machine can run, best first.
template <class T> std::span<const GemmKernels<T>> gemm_kernels();

}  // namespace attune
