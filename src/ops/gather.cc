// Operators that pick elements or slices by index: Gather, GatherElements, GatherND.
#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/index_offsets.h"
#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/strided_walk.h"

#include <algorithm>
#include <cstring>

namespace attune {
namespace {

/// Copies blocks of `size` bytes, the i-th from src + source(i); small blocks as one number.
template <class Source>
void copy_blocks(std::byte* dst, const std::byte* src, int64_t count, int64_t size, const Source& source) {
  parallel_for(count, std::max<int64_t>(1, 16384 / std::max<int64_t>(size, 1)), [&](int64_t begin, int64_t end) {
    auto copy = [&](auto bytes) {
      for (int64_t i = begin; i < end; ++i) std::memcpy(dst + i * bytes, src + source(i), static_cast<size_t>(bytes));
    };
    switch (size) {
      case 1: copy(std::integral_constant<int64_t, 1>{}); break;
      case 2: copy(std::integral_constant<int64_t, 2>{}); break;
      case 4: copy(std::integral_constant<int64_t, 4>{}); break;
      case 8: copy(std::integral_constant<int64_t, 8>{}); break;
      default: copy(size);
    }
  });
}

// ---- Gather ----

void gather_content(InferContext& context) {
  const auto data = context.content(0);
  const auto indices = context.content(1);
  if (!data || !indices || context.shape(0)->size() != 1) return;
  const auto size = static_cast<int64_t>(data->size());
  std::vector<Dim> picked;
  for (const Dim& index : *indices) {
    const auto place = index.is_known() ? normalize_axis(index.value(), size) : std::nullopt;
    picked.push_back(place ? (*data)[*place] : Dim::unknown());
  }
  context.set_content(0, std::move(picked));
}

void infer_gather(InferContext& context) {
  require_index_dtype(context, 1);
  const std::optional<Shape>&data = context.shape(0), &indices = context.shape(1);
  if (!data || !indices) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  const int64_t axis = context.axis_in_range(context.attr_int("axis", 0), static_cast<int64_t>(data->size()));
  Shape result(data->begin(), data->begin() + axis);
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), data->begin() + axis + 1, data->end());
  context.set_output(0, context.dtype(0), result);
  gather_content(context);
}

void run_gather(KernelContext& context) {
  const Tensor data = movable(context.input(0));
  const Tensor indices = index_tensor(context, 1);
  const int64_t axis = context.axis_in_range(context.attr_int("axis", 0), data.rank());
  const int64_t size = data.dim(axis), count = indices.count();
  std::vector<int64_t> places(indices.data<int64_t>(), indices.data<int64_t>() + count);
  for (int64_t& place : places) place = checked_index(place, size, context);
  move_into(context, 0, [&](Tensor& dst) {
    const AxisSplit split = split_axis(data.dims(), axis);
    const int64_t outer = split.outer, block = split.inner * element_bytes(data);
    for (int64_t o = 0; o < outer && outer <= count; ++o)
      copy_blocks(dst.mutable_bytes() + o * count * block, data.bytes() + o * size * block, count, block,
                  [&](int64_t i) { return places[i] * block; });
    if (outer > count)  // few indices, many rows: one pass over everything
      copy_blocks(dst.mutable_bytes(), data.bytes(), outer * count, block,
                  [&](int64_t i) { return (i / count * size + places[i % count]) * block; });
  });
}

// ---- GatherElements ----

void infer_gather_elements(InferContext& context) {
  require_index_dtype(context, 1);
  const std::optional<Shape>&data = context.shape(0), &indices = context.shape(1);
  if (data && indices) check_element_indices(context, *data, *indices);
  context.set_output(
      0, context.dtype(0),
      indices ? indices : (data ? std::optional(unknown_dims(static_cast<int64_t>(data->size()))) : std::nullopt));
}

void run_gather_elements(KernelContext& context) {
  const Tensor data = movable(context.input(0));
  const Tensor indices = index_tensor(context, 1);
  const ElementIndexing indexing(context, data.dims(), indices.dims());
  move_into(context, 0, [&](Tensor& dst) {
    dispatch_by_size(data.dtype(), context, [&]<class T>() {
      const T* from = reinterpret_cast<const T*>(data.bytes());
      T* to = reinterpret_cast<T*>(dst.mutable_bytes());
      const int64_t* index = indices.data<int64_t>();
      const int64_t row = indexing.row;
      parallel_for(indices.count() / row, std::max<int64_t>(1, 16384 / row), [&](int64_t begin, int64_t end) {
        StridedWalk<1> walk = indexing.outer_walk();
        walk.seek(begin);
        for (int64_t i = begin; i < end; ++i, walk.next())
          for (int64_t j = 0; j < row; ++j)
            to[i * row + j] = from[walk.offset(0) + indexing.offset(j, index[i * row + j], context)];
      });
    });
  });
}

// ---- GatherND ----

int64_t batch_dims_of(const OpContext& context) {
  const int64_t batch_dims = context.attr_int("batch_dims", 0);
  if (batch_dims < 0) context.fail("batch_dims {} is negative", batch_dims);
  return batch_dims;
}

void infer_gather_nd(InferContext& context) {
  if (context.dtype(1) != DType::i64 && context.dtype(1) != DType::undefined)
    context.fail("indices have dtype {}, expected i64", dtype_name(context.dtype(1)));
  const std::optional<Shape>&data = context.shape(0), &indices = context.shape(1);
  const int64_t batch_dims = batch_dims_of(context);
  if (!data || !indices || indices->empty() || !indices->back().is_known()) {
    if (indices && indices->empty()) context.fail("indices are a scalar, expected at least rank 1");
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  const auto rank = static_cast<int64_t>(data->size());
  const int64_t depth = indices->back().value();
  if (batch_dims >= static_cast<int64_t>(indices->size()) || batch_dims >= std::max<int64_t>(rank, 1))
    context.fail("batch_dims {} is not below the ranks of data {} and indices {}", batch_dims, to_text(*data),
                 to_text(*indices));
  if (depth < 1 || depth > rank - batch_dims)
    context.fail("indices of {} numbers do not fit data of {}", depth, to_text(*data));
  for (int64_t i = 0; i < batch_dims; ++i) merged_dim((*data)[i], (*indices)[i], context);
  Shape result(indices->begin(), indices->end() - 1);
  result.insert(result.end(), data->begin() + batch_dims + depth, data->end());
  context.set_output(0, context.dtype(0), result);
}

void run_gather_nd(KernelContext& context) {
  const Tensor data = movable(context.input(0));
  const Tensor indices = index_tensor(context, 1);
  const int64_t batch_dims = batch_dims_of(context);
  move_into(context, 0, [&](Tensor& dst) {
    const std::vector<int64_t> offsets = slice_offsets(context, data.dims(), indices, batch_dims);
    const auto first_kept = static_cast<size_t>(batch_dims + indices.dim(indices.rank() - 1));
    const int64_t block = element_count(std::span(data.dims()).subspan(first_kept)) * element_bytes(data);
    copy_blocks(dst.mutable_bytes(), data.bytes(), static_cast<int64_t>(offsets.size()), block,
                [&](int64_t i) { return offsets[i] * element_bytes(data); });
  });
}

}  // namespace

std::span<const OpDef> gather_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "Gather",
       .since = 1,
       .inputs = {2, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_gather,
       .kernel = run_gather},
      {.domain = "",
       .name = "GatherElements",
       .since = 11,
       .inputs = {2, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_gather_elements,
       .kernel = run_gather_elements},
      {.domain = "",
       .name = "GatherND",
       .since = 11,
       .inputs = {2, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_gather_nd,
       .kernel = run_gather_nd},
  };
  return ops;
}

}  // namespace attune
