// Numpy-style broadcasting, symbolic and concrete.
#pragma once

#include "ops/context.h"

#include <span>

namespace attune {

/// The broadcast of two symbolic shapes. A symbol against 1 is the symbol; a symbol against a number above 1 is the
/// number; two different symbols give an unknown dim. Fails, naming the node, when two numbers do not match.
Shape broadcast_shapes(const Shape& a, const Shape& b, const OpContext& context);
/// The same over optional shapes: nothing when one rank is unknown.
std::optional<Shape> broadcast_shapes(const std::optional<Shape>& a, const std::optional<Shape>& b,
                                      const OpContext& context);
/// The broadcast of inputs [first, last) of a node.
std::optional<Shape> broadcast_inputs(const InferContext& context, int first, int last);
Dims broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b, const OpContext& context);

/// Strides in elements with which a tensor of `dims` is read when broadcast to `target`: 0 along repeated axes.
Dims broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> target);

}  // namespace attune
