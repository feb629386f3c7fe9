// Known contents of small integer tensors, element by element, as shape arithmetic needs them.
#pragma once

#include "graph/tensor.h"

#include <optional>
#include <vector>

namespace attune {

/// Larger tensors are data, not shapes.
inline constexpr int64_t kMostContentElements = 1024;

/// The elements of an i64, i32 or bool tensor of rank 0 or 1; nothing for anything else.
std::optional<std::vector<Dim>> content_of(const Tensor& tensor);

}  // namespace attune
