#include "ops/gemm.h"

#include "base/parallel.h"

namespace attune {
namespace {

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* dst, int64_t dst_row_stride) {
  parallel_for(m, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += static_cast<double>(a.data[i * a.row_stride + p * a.column_stride]) *
                 static_cast<double>(b.data[p * b.row_stride + j * b.column_stride]);
        dst[i * dst_row_stride + j] = static_cast<T>(sum);
      }
  });
}

}  // namespace

void gemm(int64_t m, int64_t n, int64_t k, MatrixView<float> a, MatrixView<float> b, float* dst,
          int64_t dst_row_stride) {
  multiply(m, n, k, a, b, dst, dst_row_stride);
}
void gemm(int64_t m, int64_t n, int64_t k, MatrixView<double> a, MatrixView<double> b, double* dst,
          int64_t dst_row_stride) {
  multiply(m, n, k, a, b, dst, dst_row_stride);
}

}  // namespace attune
