// Axes of a reduction from attribute or input, and the shape inference that the reductions share.
#pragma once

#include "ops/context.h"

#include <optional>
#include <vector>

namespace attune {

/// Which axes of a tensor of `rank` are reduced; an empty list means all of them unless the node says noop.
std::vector<bool> reduced_axes(const OpContext& context, const std::optional<std::vector<int64_t>>& axes, int64_t rank);

/// Sets the type of output 0 and, when the axes are known, returns which are reduced.
std::optional<std::vector<bool>> infer_reduced(InferContext& context);

enum class KeepDims { no, yes };
/// Attribute keepdims, whose default is yes.
KeepDims keep_dims_of(const OpContext& context);

/// The shape left when the axes are reduced.
Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, KeepDims keep_dims);

}  // namespace attune
