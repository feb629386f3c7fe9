// The matrix product under MatMul, Conv, recurrent cells and attention: accumulated in double, blocked and threaded.
#pragma once

#include <cstdint>

namespace attune {

/// A matrix of any strides, in elements; a transpose swaps them.
template <class T> struct MatrixView {
  const T* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
};

/// dst[i][j] = sum over p of a[i][p] * b[p][j], for an m x k by k x n product; the rows of dst are dst_row_stride
/// apart.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* dst,
          int64_t dst_row_stride);
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<double> a, MatrixView<double> b, double* dst,
          int64_t dst_row_stride);

}  // namespace attune
