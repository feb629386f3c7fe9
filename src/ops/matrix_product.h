// The matrix product for every element type: gemm for floats, wrapping arithmetic for integers; and many of them.
#pragma once

#include "base/parallel.h"
#include "ops/gemm.h"

#include <algorithm>
#include <functional>
#include <type_traits>

namespace attune {

template <class T>
void matrix_product(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* dst, int64_t dst_row_stride) {
  if constexpr (std::is_floating_point_v<T>) {
    gemm(m, n, k, a, b, dst, dst_row_stride);
  } else {
    const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, n));
    parallel_for(m, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* row = dst + i * dst_row_stride;
        std::fill_n(row, n, T{});
        for (int64_t p = 0; p < k; ++p) {
          // Unsigned, because overflow of a model's integers wraps.
          const auto factor = static_cast<uint64_t>(a.data[i * a.row_stride + p * a.column_stride]);
          const T* from = b.data + p * b.row_stride;
          for (int64_t j = 0; j < n; ++j)
            row[j] = static_cast<T>(static_cast<uint64_t>(row[j]) +
                                    factor * static_cast<uint64_t>(from[j * b.column_stride]));
        }
      }
    });
  }
}

/// Calls body(first, last) over `count` independent products of `work` multiplications each: side by side when there
/// are enough of them, else one after the other so that each can use all threads.
inline void for_each_product(int64_t count, double work, const std::function<void(int64_t, int64_t)>& body) {
  if (count < 2 * int64_t{thread_count()}) {
    body(0, count);
    return;
  }
  const auto grain = static_cast<int64_t>(std::max(1.0, 65536.0 / std::max(work, 1.0)));
  parallel_for(count, grain, body);
}

}  // namespace attune
