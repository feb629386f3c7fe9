// Copies an N-dimensional block of elements between two strided places: the one loop under Transpose, Slice, Concat,
// Expand and their relatives. Strides count elements and may be zero (repeat) or negative (reverse) on the source side.
#pragma once

#include "graph/tensor.h"

#include <span>

namespace attune {

/// `dst` and `src` point at the elements of index zero and must not overlap; `element_bytes` is 1, 2, 4 or 8.
void strided_copy(int element_bytes, std::span<const int64_t> dims, std::byte* dst,
                  std::span<const int64_t> dst_strides, const std::byte* src, std::span<const int64_t> src_strides);

}  // namespace attune
