// Parts of a tensor along one axis that lie in memory in one piece: they can be used where they are.
#pragma once

#include "kernel/tensor_spec.h"

#include <optional>

namespace attune {

/// Where elements [begin, begin + length) along `axis` begin, in bytes, when they lie in one piece and at a place that
/// kernels accept (a whole number of cache lines); nothing otherwise.
std::optional<int64_t> part_offset(const TensorSpec& whole, size_t axis, int64_t begin, int64_t length);

}  // namespace attune
