#include "ops/movement_rearrange.h"

#include "base/checked.h"
#include "base/parallel.h"
#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/strided_copy.h"

#include <algorithm>
#include <cstring>

namespace attune {
namespace {

// ---- DepthToSpace, SpaceToDepth ----

int64_t block_size(const OpContext& context) {
  const int64_t size = context.attr_int("blocksize");
  if (size < 1 || size > INT32_MAX) context.fail("blocksize {} is not a positive number", size);
  return size;
}

/// DCR: the block's position is the outer part of the depth; CRD: the inner part.
bool depth_is_inner(const OpContext& context) {
  const std::string mode = context.attr_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") context.fail("mode '{}' is not one of DCR, CRD", mode);
  return mode == "DCR";
}

/// Copies between the two forms of one tensor. Both sides are seen as n, c, by, bx, h, w.
struct BlockView {
  Dims dims, depth_strides, space_strides;
};

BlockView block_view(int64_t n, int64_t c, int64_t block, int64_t h, int64_t w, bool depth_inner) {
  const int64_t plane = h * w, channels = c * block * block;
  BlockView view{.dims = {n, c, block, block, h, w}, .depth_strides = {}, .space_strides = {}};
  if (depth_inner)
    view.depth_strides = {channels * plane, plane, block * c * plane, c * plane, w, 1};
  else
    view.depth_strides = {channels * plane, block * block * plane, block * plane, plane, w, 1};
  view.space_strides = {channels * plane, block * block * plane, w * block, 1, block * w * block, block};
  return view;
}

Dim exact_quotient(const OpContext& context, const Dim& dim, int64_t divisor, std::string_view what) {
  if (dim.is_known() && dim.value() % divisor != 0)
    context.fail("{} of {} is not a multiple of {}", what, dim.value(), divisor);
  return dim.floor_div(Dim(divisor));
}

}  // namespace

void infer_depth_to_space(InferContext& context) {
  require_rank(context, 0, 4);
  depth_is_inner(context);
  const int64_t block = block_size(context);
  Shape shape = context.shape(0).value_or(unknown_dims(4));
  shape[1] = exact_quotient(context, shape[1], block * block, "a depth");
  shape[2] = product_dim(shape[2], Dim(block), context);
  shape[3] = product_dim(shape[3], Dim(block), context);
  context.set_output(0, context.dtype(0), shape);
}

void run_depth_to_space(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  const int64_t block = block_size(context);
  const BlockView view =
      block_view(src.dim(0), src.dim(1) / (block * block), block, src.dim(2), src.dim(3), depth_is_inner(context));
  move_into(context, 0, [&](Tensor& dst) {
    strided_copy(element_bytes(src), view.dims, dst.mutable_bytes(), view.space_strides, src.bytes(),
                 view.depth_strides);
  });
}

void infer_space_to_depth(InferContext& context) {
  require_rank(context, 0, 4);
  depth_is_inner(context);
  const int64_t block = block_size(context);
  Shape shape = context.shape(0).value_or(unknown_dims(4));
  shape[1] = product_dim(shape[1], Dim(block * block), context);
  shape[2] = exact_quotient(context, shape[2], block, "a height");
  shape[3] = exact_quotient(context, shape[3], block, "a width");
  context.set_output(0, context.dtype(0), shape);
}

void run_space_to_depth(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  const int64_t block = block_size(context);
  const BlockView view =
      block_view(src.dim(0), src.dim(1), block, src.dim(2) / block, src.dim(3) / block, depth_is_inner(context));
  move_into(context, 0, [&](Tensor& dst) {
    strided_copy(element_bytes(src), view.dims, dst.mutable_bytes(), view.depth_strides, src.bytes(),
                 view.space_strides);
  });
}

// ---- ReverseSequence ----

void infer_reverse_sequence(InferContext& context) {
  const int64_t batch_axis = context.attr_int("batch_axis", 1), time_axis = context.attr_int("time_axis", 0);
  if (std::min(batch_axis, time_axis) != 0 || std::max(batch_axis, time_axis) != 1)
    context.fail("batch_axis {} and time_axis {} are not 0 and 1", batch_axis, time_axis);
  require_rank(context, 1, 1);
  if (const std::optional<Shape>& shape = context.shape(0)) {
    if (shape->size() < 2) context.fail("input 0 has rank {}, expected at least 2", shape->size());
    if (context.shape(1)) merged_dim((*shape)[batch_axis], (*context.shape(1))[0], context);
  }
  context.copy_type(0, 0);
}

void run_reverse_sequence(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  if (src.count() == 0) return;
  const std::vector<int64_t> lengths = context.ints(1);
  const bool batch_first = context.attr_int("batch_axis", 1) == 0;
  const int64_t batch = src.dim(batch_first ? 0 : 1), time = src.dim(batch_first ? 1 : 0);
  const int64_t block = element_count(std::span(src.dims()).subspan(2)) * element_bytes(src);
  const int64_t batch_stride = batch_first ? time : 1, time_stride = batch_first ? 1 : batch;
  for (const int64_t length : lengths)
    if (length < 0 || length > time) context.fail("sequence length {} is not in [0, {}]", length, time);
  move_into(context, 0, [&](Tensor& dst) {
    const std::byte* from = src.bytes();
    std::byte* to = dst.mutable_bytes();
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t t = 0; t < time; ++t) {
        const int64_t source = t < lengths[b] ? lengths[b] - 1 - t : t;
        std::memcpy(to + (b * batch_stride + t * time_stride) * block,
                    from + (b * batch_stride + source * time_stride) * block, static_cast<size_t>(block));
      }
  });
}

// ---- Trilu ----

void infer_trilu(InferContext& context) {
  if (const std::optional<Shape>& shape = context.shape(0); shape && shape->size() < 2)
    context.fail("input 0 has rank {}, expected at least 2", shape->size());
  if (context.has_input(1)) int_scalar(context, 1);
  context.copy_type(0, 0);
}

void run_trilu(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  if (src.count() == 0) return;
  const bool upper = context.attr_int("upper", 1) != 0;
  const int64_t rows = src.dim(src.rank() - 2), columns = src.dim(src.rank() - 1);
  // Beyond the matrix every diagonal means the same.
  const int64_t k = context.has_input(1) ? std::clamp(context.ints(1).at(0), -rows - 1, columns + 1) : 0;
  const int bytes = element_bytes(src);
  move_into(context, 0, [&](Tensor& dst) {
    const std::byte* from = src.bytes();
    std::byte* to = dst.mutable_bytes();
    parallel_for(src.count() / columns, std::max<int64_t>(1, 16384 / columns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t border = std::clamp<int64_t>(i % rows + k + (upper ? 0 : 1), 0, columns);
        const int64_t first = upper ? border : 0, last = upper ? columns : border;
        std::byte* row = to + i * columns * bytes;
        std::memset(row, 0, static_cast<size_t>(columns * bytes));
        std::memcpy(row + first * bytes, from + (i * columns + first) * bytes,
                    static_cast<size_t>((last - first) * bytes));
      }
    });
  });
}

}  // namespace attune
