// Softmax and its logarithm along the middle of [outer][length][inner], numerically stable: the largest value is
// subtracted before exponentials are taken.
#pragma once

#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/dispatch.h"

#include <cmath>
#include <vector>

namespace attune {

enum class SoftmaxKind { probability, log_probability };

namespace softmax_detail {

template <SoftmaxKind kKind, class C, class T, class Out>
void contiguous_row(const T* src, Out* dst, int64_t count, C* scratch) {
  C largest = static_cast<C>(src[0]);
  for (int64_t i = 0; i < count; ++i) {
    scratch[i] = static_cast<C>(src[i]);
    largest = scratch[i] > largest ? scratch[i] : largest;
  }
  double sum = 0;
  if constexpr (kKind == SoftmaxKind::log_probability) {
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(std::exp(scratch[i] - largest));
    const C log_sum = static_cast<C>(std::log(sum));
    for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<Out>(scratch[i] - largest - log_sum);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      scratch[i] = std::exp(scratch[i] - largest);
      sum += static_cast<double>(scratch[i]);
    }
    const C scale = static_cast<C>(1.0 / sum);
    for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<Out>(scratch[i] * scale);
  }
}

/// A block of columns, walked along the rows of memory.
template <SoftmaxKind kKind, class C, class T, class Out>
void column_block(const T* src, Out* dst, const AxisSplit& split, int64_t columns, C* largest, double* sum) {
  for (int64_t c = 0; c < columns; ++c) {
    largest[c] = static_cast<C>(src[c]);
    sum[c] = 0;
  }
  const auto each_row = [&](auto&& body) {
    for (int64_t row = 0; row < split.length; ++row)
      for (int64_t c = 0; c < columns; ++c) body(row * split.inner + c, c);
  };
  each_row([&](int64_t at, int64_t c) {
    const C value = static_cast<C>(src[at]);
    largest[c] = value > largest[c] ? value : largest[c];
  });
  each_row(
      [&](int64_t at, int64_t c) { sum[c] += static_cast<double>(std::exp(static_cast<C>(src[at]) - largest[c])); });
  if constexpr (kKind == SoftmaxKind::log_probability) {
    for (int64_t c = 0; c < columns; ++c) sum[c] = std::log(sum[c]);
    each_row([&](int64_t at, int64_t c) {
      dst[at] = static_cast<Out>(static_cast<C>(src[at]) - largest[c] - static_cast<C>(sum[c]));
    });
  } else {
    for (int64_t c = 0; c < columns; ++c) sum[c] = 1.0 / sum[c];
    each_row([&](int64_t at, int64_t c) {
      dst[at] = static_cast<Out>(std::exp(static_cast<C>(src[at]) - largest[c]) * static_cast<C>(sum[c]));
    });
  }
}

}  // namespace softmax_detail

/// Out is T, or the type that T computes in. The tensor is not empty.
template <SoftmaxKind kKind, class T, class Out> void softmax(const T* src, Out* dst, const AxisSplit& split) {
  using C = compute_t<T>;
  constexpr int64_t kGrain = 1 << 12;  // an exponential is worth several simple operations
  constexpr int64_t kColumns = 512;
  if (split.inner == 1) {
    parallel_for(split.outer, std::max<int64_t>(1, kGrain / split.length), [&](int64_t begin, int64_t end) {
      std::vector<C> scratch(static_cast<size_t>(split.length));
      for (int64_t row = begin; row < end; ++row)
        softmax_detail::contiguous_row<kKind, C>(src + row * split.length, dst + row * split.length, split.length,
                                                 scratch.data());
    });
    return;
  }
  const int64_t block = std::min(split.inner, kColumns);
  const int64_t blocks = (split.inner + block - 1) / block;
  const int64_t grain = std::max<int64_t>(1, kGrain / (block * split.length));
  parallel_for(split.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    std::vector<C> largest(static_cast<size_t>(block));
    std::vector<double> sum(static_cast<size_t>(block));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % blocks * block;
      const int64_t start = task / blocks * split.length * split.inner + column;
      softmax_detail::column_block<kKind, C>(src + start, dst + start, split, std::min(block, split.inner - column),
                                             largest.data(), sum.data());
    }
  });
}

}  // namespace attune
