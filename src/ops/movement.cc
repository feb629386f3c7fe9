// Operators that move whole slices: Transpose, Concat, Split, Slice, Tile, Expand, Pad and relatives.
#include "ops/broadcast.h"
#include "ops/content.h"
#include "ops/families.h"
#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/movement_join.h"
#include "ops/movement_pad.h"
#include "ops/movement_rearrange.h"
#include "ops/movement_slice.h"
#include "ops/strided_copy.h"

#include <algorithm>

namespace attune {
namespace {

// ---- Transpose ----

/// The attribute perm checked, or the axes in reverse.
Dims permutation(const OpContext& context, int64_t rank) {
  if (!context.has_attr("perm")) {
    Dims reversed;
    for (int64_t axis = rank; axis-- > 0;) reversed.push_back(axis);
    return reversed;
  }
  const std::vector<int64_t>& perm = context.attr_ints("perm");
  if (static_cast<int64_t>(perm.size()) != rank)
    context.fail("perm has {} axes for a tensor of rank {}", perm.size(), rank);
  return distinct_axes(context, perm, rank);
}

void infer_transpose(InferContext& context) {
  const std::optional<Shape>& shape = context.shape(0);
  std::optional<Shape> result;
  if (shape) {
    result.emplace();
    for (const int64_t axis : permutation(context, static_cast<int64_t>(shape->size())))
      result->push_back((*shape)[axis]);
  } else if (context.has_attr("perm")) {
    result = unknown_dims(static_cast<int64_t>(context.attr_ints("perm").size()));
  }
  context.set_output(0, context.dtype(0), result);
  pass_content(context, result);
}

void run_transpose(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  const Dims own_strides = row_major_strides(src.dims());
  Dims src_strides;
  for (const int64_t axis : permutation(context, src.rank())) src_strides.push_back(own_strides[axis]);
  move_into(context, 0, [&](Tensor& dst) {
    strided_copy(element_bytes(src), dst.dims(), dst.mutable_bytes(), row_major_strides(dst.dims()), src.bytes(),
                 src_strides);
  });
}

// ---- Tile ----

void infer_tile(InferContext& context) {
  const auto repeats = int_content(context, 1);
  const std::optional<Shape>& shape = context.shape(0);
  const auto length = repeats ? std::optional(static_cast<int64_t>(repeats->size())) : known_length(context, 1);
  if (shape && length && *length != static_cast<int64_t>(shape->size()))
    context.fail("{} repeats for a tensor of rank {}", *length, shape->size());
  if (!shape) {
    context.set_output(0, context.dtype(0), length ? std::optional(unknown_dims(*length)) : std::nullopt);
    return;
  }
  Shape result = unknown_dims(static_cast<int64_t>(shape->size()));
  for (size_t i = 0; repeats && i < result.size(); ++i) {
    const Dim& repeat = (*repeats)[i];
    if (repeat.is_known() && repeat.value() < 0) context.fail("repeat {} is negative", repeat.value());
    result[i] = product_dim((*shape)[i], repeat, context);
  }
  context.set_output(0, context.dtype(0), result);

  const auto content = context.content(0);
  if (!content || result.size() != 1 || !result[0].is_known() || result[0].value() > kMostContentElements) return;
  std::vector<Dim> tiled;
  while (static_cast<int64_t>(tiled.size()) < result[0].value())
    tiled.insert(tiled.end(), content->begin(), content->end());
  context.set_content(0, std::move(tiled));
}

void run_tile(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  const std::vector<int64_t> repeats = context.ints(1);
  const Dims own_strides = row_major_strides(src.dims());
  move_into(context, 0, [&](Tensor& dst) {
    const Dims out_strides = row_major_strides(dst.dims());
    Dims dims, dst_strides, src_strides;  // each axis becomes two: which repeat, where in it
    for (int64_t axis = 0; axis < src.rank(); ++axis) {
      dims.insert(dims.end(), {repeats[axis], src.dim(axis)});
      dst_strides.insert(dst_strides.end(), {src.dim(axis) * out_strides[axis], out_strides[axis]});
      src_strides.insert(src_strides.end(), {0, own_strides[axis]});
    }
    strided_copy(element_bytes(src), dims, dst.mutable_bytes(), dst_strides, src.bytes(), src_strides);
  });
}

// ---- Expand ----

void infer_expand(InferContext& context) {
  std::optional<std::vector<Dim>> target = int_content(context, 1);
  if (!target) {
    if (const auto rank = known_length(context, 1)) target = unknown_dims(*rank);
  }
  if (!target || !context.shape(0)) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  for (const Dim& dim : *target)
    if (dim.is_known() && dim.value() < 0) context.fail("target dim {} is negative", dim.value());
  const Shape result = broadcast_shapes(*context.shape(0), *target, context);
  context.set_output(0, context.dtype(0), result);

  const auto content = context.content(0);
  if (!content) return;
  if (result.empty() || (result.size() == 1 && result[0] == Dim(static_cast<int64_t>(content->size()))))
    context.set_content(0, *content);
  else if (result.size() == 1 && result[0].is_known() && result[0].value() <= kMostContentElements &&
           content->size() == 1)
    context.set_content(0, std::vector<Dim>(static_cast<size_t>(result[0].value()), content->front()));
}

void run_expand(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  move_into(context, 0, [&](Tensor& dst) {
    strided_copy(element_bytes(src), dst.dims(), dst.mutable_bytes(), row_major_strides(dst.dims()), src.bytes(),
                 broadcast_strides(src.dims(), dst.dims()));
  });
}

OpDef movement(std::string_view name, int since, Arity inputs, void (*infer)(InferContext&),
               void (*kernel)(KernelContext&), Arity outputs = {1, 1}) {
  return {.domain = "",
          .name = name,
          .since = since,
          .inputs = inputs,
          .outputs = outputs,
          .layout_class = LayoutClass::decides_function,
          .infer = infer,
          .kernel = kernel};
}

}  // namespace

std::span<const OpDef> movement_ops() {
  static const OpDef ops[] = {
      movement("Transpose", 1, {1, 1}, infer_transpose, run_transpose),
      movement("Concat", 4, {1, kVariadic}, infer_concat, run_concat),
      movement("Split", 1, {1, 2}, infer_split, run_split, {1, kVariadic}),
      movement("Slice", 1, {1, 5}, infer_slice, run_slice),
      movement("Tile", 6, {2, 2}, infer_tile, run_tile),
      movement("Expand", 8, {2, 2}, infer_expand, run_expand),
      movement("Pad", 2, {1, 4}, infer_pad, run_pad),
      movement("CenterCropPad", 18, {2, 2}, infer_center_crop_pad, run_center_crop_pad),
      movement("DepthToSpace", 1, {1, 1}, infer_depth_to_space, run_depth_to_space),
      movement("SpaceToDepth", 1, {1, 1}, infer_space_to_depth, run_space_to_depth),
      movement("ReverseSequence", 10, {2, 2}, infer_reverse_sequence, run_reverse_sequence),
      movement("Trilu", 14, {1, 2}, infer_trilu, run_trilu),
  };
  return ops;
}

}  // namespace attune
