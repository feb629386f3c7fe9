// Operators that read or restate shapes without moving an element: Shape, Size, Reshape, Flatten, Squeeze, Unsqueeze,
// Identity, Dropout. Their kernels share the storage of the input.
#include "ops/families.h"
#include "ops/infer_parts.h"
#include "ops/view_dropout.h"
#include "ops/view_reshape.h"

#include <algorithm>

namespace attune {
namespace {

// ---- Shape, Size ----

struct AxisRange {
  int64_t first, last;
};

/// The attributes start and end (opset 15) clamped to the rank.
AxisRange shape_range(const OpContext& context, int64_t rank) {
  auto position = [rank](int64_t value) { return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank); };
  const int64_t first = position(context.attr_int("start", 0));
  const int64_t last = position(context.attr_int("end", rank));
  return {first, std::max(first, last)};
}

void infer_shape(InferContext& context) {
  const std::optional<Shape>& shape = context.shape(0);
  if (!shape) {
    context.set_output(0, DType::i64, Shape{Dim::unknown()});
    return;
  }
  const AxisRange range = shape_range(context, static_cast<int64_t>(shape->size()));
  context.set_output(0, DType::i64, Shape{range.last - range.first});
  context.set_content(0, {shape->begin() + range.first, shape->begin() + range.last});
}

void run_shape(KernelContext& context) {
  const Dims& dims = context.input(0).dims();
  const AxisRange range = shape_range(context, context.input(0).rank());
  std::copy(dims.begin() + range.first, dims.begin() + range.last, context.output(0).mutable_data<int64_t>());
}

void infer_size(InferContext& context) {
  context.set_output(0, DType::i64, Shape{});
  if (const std::optional<Shape>& shape = context.shape(0)) context.set_content(0, {element_count(*shape)});
}

void run_size(KernelContext& context) { context.output(0).mutable_data<int64_t>()[0] = context.input(0).count(); }

// ---- Flatten ----

Shape flattened(const OpContext& context, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = context.attr_int("axis", 1);
  if (axis < -rank || axis > rank) context.fail("axis {} is out of range for a tensor of rank {}", axis, rank);
  const auto middle = shape.begin() + (axis < 0 ? axis + rank : axis);
  return {element_count(Shape(shape.begin(), middle)), element_count(Shape(middle, shape.end()))};
}

void infer_flatten(InferContext& context) {
  const std::optional<Shape>& shape = context.shape(0);
  context.set_output(0, context.dtype(0), shape ? flattened(context, *shape) : unknown_dims(2));
}

void run_flatten(KernelContext& context) {
  const Tensor& src = context.input(0);
  context.set_output(0, src.reshaped(concrete_dims(context, flattened(context, to_shape(src.dims())))));
}

// ---- Squeeze, Unsqueeze ----

/// Without axes every dim of one goes; what remains is unknown while a dim could be one.
std::optional<Shape> squeezed(const OpContext& context, const Shape& shape, const std::optional<Dims>& axes) {
  Shape result;
  if (!axes) {
    for (const Dim& dim : shape) {
      if (!dim.is_known()) return std::nullopt;
      if (dim.value() != 1) result.push_back(dim);
    }
    return result;
  }
  std::vector<bool> removed(shape.size(), false);
  for (const int64_t axis : distinct_axes(context, *axes, static_cast<int64_t>(shape.size()))) {
    if (shape[axis].is_known() && shape[axis].value() != 1)
      context.fail("axis {} of {} cannot be squeezed: its dim is not 1", axis, to_text(shape));
    removed[axis] = true;
  }
  for (size_t i = 0; i < shape.size(); ++i)
    if (!removed[i]) result.push_back(shape[i]);
  return result;
}

void infer_squeeze(InferContext& context) {
  const auto axes = int_values(context, "axes", 1);
  const std::optional<Shape>& shape = context.shape(0);
  std::optional<Shape> result;
  if (shape && (axes || !context.has_input(1))) {
    result = squeezed(context, *shape, axes);
  } else if (const auto removed = known_length(context, 1); shape && removed) {
    if (*removed > static_cast<int64_t>(shape->size())) context.fail("{} axes for {}", *removed, to_text(*shape));
    result = unknown_dims(static_cast<int64_t>(shape->size()) - *removed);
  }
  context.set_output(0, context.dtype(0), result);
  pass_content(context, result);
}

void run_squeeze(KernelContext& context) {
  const Tensor& src = context.input(0);
  const auto shape = squeezed(context, to_shape(src.dims()), context.ints_from("axes", 1));
  context.set_output(0, src.reshaped(concrete_dims(context, *shape)));
}

Shape unsqueezed(const OpContext& context, const Shape& shape, const Dims& axes) {
  const size_t rank = shape.size() + axes.size();
  std::vector<bool> added(rank, false);
  for (const int64_t axis : distinct_axes(context, axes, static_cast<int64_t>(rank))) added[axis] = true;
  Shape result;
  auto next = shape.begin();
  for (size_t i = 0; i < rank; ++i) result.push_back(added[i] ? Dim(1) : *next++);
  return result;
}

void infer_unsqueeze(InferContext& context) {
  if (!context.has_attr("axes") && !context.has_input(1)) context.fail("no axes are given");
  const auto axes = int_values(context, "axes", 1);
  const std::optional<Shape>& shape = context.shape(0);
  std::optional<Shape> result;
  if (shape && axes)
    result = unsqueezed(context, *shape, *axes);
  else if (const auto added = known_length(context, 1); shape && added)
    result = unknown_dims(static_cast<int64_t>(shape->size()) + *added);
  context.set_output(0, context.dtype(0), result);
  pass_content(context, result);
}

void run_unsqueeze(KernelContext& context) {
  const Tensor& src = context.input(0);
  const Shape shape = unsqueezed(context, to_shape(src.dims()), *context.ints_from("axes", 1));
  context.set_output(0, src.reshaped(concrete_dims(context, shape)));
}

// ---- Identity ----

void infer_identity(InferContext& context) {
  context.copy_type(0, 0);
  pass_content(context, context.shape(0));
}

void run_identity(KernelContext& context) { context.set_output(0, context.input(0)); }

}  // namespace

std::span<const OpDef> view_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "Shape",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_shape,
       .kernel = run_shape},
      {.domain = "",
       .name = "Size",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_size,
       .kernel = run_size},
      {.domain = "",
       .name = "Reshape",
       .since = 5,
       .inputs = {2, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_reshape,
       .kernel = run_reshape},
      {.domain = "",
       .name = "Flatten",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_flatten,
       .kernel = run_flatten},
      {.domain = "",
       .name = "Squeeze",
       .since = 1,
       .inputs = {1, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_squeeze,
       .kernel = run_squeeze},
      {.domain = "",
       .name = "Unsqueeze",
       .since = 1,
       .inputs = {1, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_unsqueeze,
       .kernel = run_unsqueeze},
      {.domain = "",
       .name = "Identity",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_identity,
       .kernel = run_identity},
      {.domain = "",
       .name = "OptionalGetElement",
       .since = 15,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_identity,
       .kernel = run_identity},
      {.domain = "",
       .name = "OptionalHasElement",
       .since = 15,
       .inputs = {0, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::irrelevant,
       .infer = [](InferContext& context) { context.set_output(0, DType::boolean, Shape{}); },
       .kernel = [](KernelContext& context) { context.set_output(0, Tensor::scalar<bool>(context.has_input(0))); }},
      {.domain = "",
       .name = "Dropout",
       .since = 1,
       .inputs = {1, 3},
       .outputs = {1, 2},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_dropout,
       .kernel = run_dropout},
  };
  return ops;
}

}  // namespace attune
