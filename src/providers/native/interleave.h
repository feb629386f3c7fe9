// Two rows of elements merged into one that takes from them in turn.
#pragma once

#include <cstdint>
#include <utility>

namespace attune::native {

/// Pairs that interleave_rounded may read and write beyond those asked for.
template <class T> constexpr int64_t kInterleaveStep = 16 / static_cast<int64_t>(sizeof(T));

template <class T>
void interleave(const T* __restrict even, const T* __restrict odd, T* __restrict dst, int64_t pairs) {
  for (int64_t i = 0; i < pairs; ++i) {
    dst[2 * i] = even[i];
    dst[2 * i + 1] = odd[i];
  }
}

/// The same in whole vectors, so that up to kInterleaveStep - 1 further pairs are read and written. Rows of a map are
/// often a few vectors long, where a loop for the rest would take most of the time.
template <class T> void interleave_rounded(const T* even, const T* odd, T* dst, int64_t pairs) {
  typedef T Vector __attribute__((vector_size(16), aligned(1), may_alias));
  const auto merge = [&]<int... kAt>(int64_t i, std::integer_sequence<int, kAt...>) {
    constexpr int kCount = sizeof...(kAt);
    const Vector a = *reinterpret_cast<const Vector*>(even + i), b = *reinterpret_cast<const Vector*>(odd + i);
    auto* to = reinterpret_cast<Vector*>(dst + 2 * i);
    to[0] = __builtin_shufflevector(a, b, (kAt / 2 + kAt % 2 * kCount)...);
    to[1] = __builtin_shufflevector(a, b, ((kCount + kAt) / 2 + kAt % 2 * kCount)...);
  };
  for (int64_t i = 0; i < pairs; i += kInterleaveStep<T>)
    merge(i, std::make_integer_sequence<int, static_cast<int>(kInterleaveStep<T>)>());
}

}  // namespace attune::native
