#include "ops/reduce_axes.h"

namespace attune {

std::vector<bool> reduced_axes(const OpContext& context, const std::optional<std::vector<int64_t>>& axes,
                               int64_t rank) {
  if (!axes || axes->empty())
    return std::vector<bool>(static_cast<size_t>(rank), context.attr_int("noop_with_empty_axes", 0) == 0);
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : *axes) reduced[static_cast<size_t>(context.axis_in_range(axis, rank))] = true;
  return reduced;
}

KeepDims keep_dims_of(const OpContext& context) {
  return context.attr_int("keepdims", 1) != 0 ? KeepDims::yes : KeepDims::no;
}

Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, KeepDims keep_dims) {
  Shape out;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!reduced[axis])
      out.push_back(shape[axis]);
    else if (keep_dims == KeepDims::yes)
      out.emplace_back(1);
  }
  return out;
}

std::optional<std::vector<bool>> infer_reduced(InferContext& context) {
  const KeepDims keep_dims = keep_dims_of(context);
  const auto& shape = context.shape(0);
  if (!shape) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return std::nullopt;
  }
  const auto axes = context.ints_from("axes", 1);
  if (!axes && context.has_input(1)) {  // given, but not known yet
    std::optional<Shape> out;
    if (keep_dims == KeepDims::yes) out = Shape(shape->size());
    context.set_output(0, context.dtype(0), out);
    return std::nullopt;
  }
  auto reduced = reduced_axes(context, axes, static_cast<int64_t>(shape->size()));
  context.set_output(0, context.dtype(0), reduced_shape(*shape, reduced, keep_dims));
  return reduced;
}

}  // namespace attune
