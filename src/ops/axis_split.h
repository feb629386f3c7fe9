// A tensor seen as [outer][length][inner] around one axis, or around a range of adjacent axes. Not for empty tensors,
// whose other dims may be too large to multiply.
#pragma once

#include "graph/shape.h"

#include <algorithm>

namespace attune {

struct AxisSplit {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
  int64_t count() const { return outer * length * inner; }
};

/// The axes [first, last) are the middle.
inline AxisSplit split_axes(std::span<const int64_t> dims, int64_t first, int64_t last) {
  const auto at = [&](int64_t axis) { return dims.begin() + axis; };
  const auto product = [](auto begin, auto end) { return element_count(std::span<const int64_t>(begin, end)); };
  return {product(dims.begin(), at(first)), product(at(first), at(last)), product(at(last), dims.end())};
}

inline AxisSplit split_axis(std::span<const int64_t> dims, int64_t axis) { return split_axes(dims, axis, axis + 1); }

}  // namespace attune
