#include "ops/movement_pad.h"

#include "base/checked.h"
#include "base/parallel.h"
#include "ops/content.h"
#include "ops/dispatch.h"
#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/strided_copy.h"
#include "ops/strided_walk.h"

#include <algorithm>
#include <cstring>

namespace attune {
namespace {

constexpr int64_t kMostPadding = int64_t{1} << 48;  // more elements than any machine holds

enum class PadMode { constant, reflect, edge, wrap };

PadMode pad_mode(const OpContext& context) {
  const std::string mode = context.attr_string("mode", "constant");
  if (mode == "constant") return PadMode::constant;
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::edge;
  if (mode == "wrap") return PadMode::wrap;
  context.fail("mode '{}' is not one of constant, reflect, edge, wrap", mode);
}

/// Elements added before and after one axis; negative ones are removed.
struct Padding {
  Dim before{0}, after{0};
};

std::vector<Padding> paddings(const OpContext& context, const std::vector<Dim>& pads,
                              const std::optional<std::vector<int64_t>>& given_axes, int64_t rank) {
  Dims axes;
  if (given_axes)
    axes = distinct_axes(context, *given_axes, rank);
  else
    for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  if (pads.size() != 2 * axes.size()) context.fail("{} pads for {} axes", pads.size(), axes.size());
  std::vector<Padding> result(static_cast<size_t>(rank));
  for (const Dim& pad : pads)
    if (pad.is_known() && (pad.value() > kMostPadding || pad.value() < -kMostPadding))
      context.fail("a padding of {} elements is too large", pad.value());
  for (size_t i = 0; i < axes.size(); ++i) result[axes[i]] = {pads[i], pads[axes.size() + i]};
  return result;
}

Dim padded_dim(const OpContext& context, const Dim& size, const Padding& padding) {
  const Dim result = sum_dim(sum_dim(size, padding.before, context), padding.after, context);
  if (result.is_known() && result.value() < 0)
    context.fail("more than the {} elements of a dim are removed", size.text());
  return result;
}

void fill_elements(Tensor& dst, const std::byte* value) {
  const int bytes = element_bytes(dst);
  strided_copy(bytes, Dims{dst.count()}, dst.mutable_bytes(), Dims{1}, value, Dims{0});
}

/// Copies what remains of `src` when its element 0 lands on element `before` of `dst` along each axis.
void place(const Tensor& src, Tensor& dst, const Dims& before) {
  const Dims src_strides = row_major_strides(src.dims()), dst_strides = row_major_strides(dst.dims());
  Dims dims;
  int64_t src_offset = 0, dst_offset = 0;
  for (int64_t axis = 0; axis < src.rank(); ++axis) {
    const int64_t first = std::max<int64_t>(0, -before[axis]);
    const int64_t last = std::min(src.dim(axis), dst.dim(axis) - before[axis]);
    if (last <= first) return;
    dims.push_back(last - first);
    src_offset += first * src_strides[axis];
    dst_offset += (first + before[axis]) * dst_strides[axis];
  }
  const int bytes = element_bytes(src);
  strided_copy(bytes, dims, dst.mutable_bytes() + dst_offset * bytes, dst_strides, src.bytes() + src_offset * bytes,
               src_strides);
}

/// Where output position `i` of an axis reads from, given its place relative to element 0 of the input.
int64_t source_index(PadMode mode, int64_t i, int64_t size) {
  auto modulo = [](int64_t value, int64_t period) { return (value % period + period) % period; };
  switch (mode) {
    case PadMode::edge: return std::clamp<int64_t>(i, 0, size - 1);
    case PadMode::wrap: return modulo(i, size);
    default: {
      if (size == 1) return 0;
      const int64_t folded = modulo(i, 2 * (size - 1));
      return folded < size ? folded : 2 * (size - 1) - folded;
    }
  }
}

template <class T> void copy_mapped(const T* src, T* dst, const Dims& dst_dims, const std::vector<Dims>& offsets) {
  const Dims& row = offsets.back();
  const auto width = static_cast<int64_t>(row.size());
  const Dims outer(dst_dims.begin(), dst_dims.end() - 1);
  parallel_for(element_count(outer), std::max<int64_t>(1, 16384 / width), [&](int64_t begin, int64_t end) {
    StridedWalk<1> walk(outer, {Dims(outer.size(), 0)});
    walk.seek(begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      const T* from = src;
      for (size_t axis = 0; axis < outer.size(); ++axis) from += offsets[axis][walk.index()[axis]];
      T* to = dst + i * width;
      for (int64_t j = 0; j < width; ++j) to[j] = from[row[j]];
    }
  });
}

/// Modes that repeat elements of the input: each axis has its own table of source offsets.
void pad_by_tables(const KernelContext& context, PadMode mode, const Tensor& src, Tensor& dst, const Dims& before) {
  if (src.count() == 0) context.fail("an empty tensor has no elements to pad with");
  if (src.rank() == 0) return place(src, dst, before);
  const Dims strides = row_major_strides(src.dims());
  std::vector<Dims> offsets(static_cast<size_t>(src.rank()));
  for (int64_t axis = 0; axis < src.rank(); ++axis)
    for (int64_t i = 0; i < dst.dim(axis); ++i)
      offsets[axis].push_back(source_index(mode, i - before[axis], src.dim(axis)) * strides[axis]);
  dispatch_by_size(src.dtype(), context, [&]<class T>() {
    copy_mapped(reinterpret_cast<const T*>(src.bytes()), reinterpret_cast<T*>(dst.mutable_bytes()), dst.dims(),
                offsets);
  });
}

/// The element that constant mode adds: input 2 or, before opset 11, attribute value.
Tensor pad_value(const KernelContext& context, DType dtype) {
  if (context.has_input(2)) {
    if (context.input(2).dtype() != dtype || context.input(2).count() != 1)
      context.fail("the constant value is not one element of {}", dtype_name(dtype));
    return movable(context.input(2));
  }
  Tensor value = Tensor::zeros(dtype, {1});
  if (context.has_attr("value"))
    dispatch<NumericTypes>(dtype, context, [&]<class T>() {
      value.mutable_data<T>()[0] = static_cast<T>(static_cast<compute_t<T>>(context.attr_float("value")));
    });
  return movable(value);
}

void pad_content(InferContext& context, const Padding& padding, const Dim& length) {
  const auto content = context.content(0);
  if (!content || !length.is_known() || length.value() > kMostContentElements || !padding.before.is_known() ||
      padding.before.value() < 0 || padding.after.value() < 0)
    return;
  if (pad_mode(context) != PadMode::constant) return;
  Dim value(0);
  if (context.has_input(2)) {
    const auto given = context.content(2);
    value = given && given->size() == 1 ? given->front() : Dim::unknown();
  }
  std::vector<Dim> padded(static_cast<size_t>(padding.before.value()), value);
  padded.insert(padded.end(), content->begin(), content->end());
  padded.resize(static_cast<size_t>(length.value()), value);
  context.set_content(0, std::move(padded));
}

}  // namespace

void infer_pad(InferContext& context) {
  pad_mode(context);
  if (!context.has_attr("pads") && !context.has_input(1)) context.fail("no pads are given");
  const std::optional<Shape>& shape = context.shape(0);
  const auto pads = int_content(context, "pads", 1);
  const auto axes = int_values(context, 3);
  if (!shape) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  const auto rank = static_cast<int64_t>(shape->size());
  if (!pads || (!axes && context.has_input(3))) {
    context.set_output(0, context.dtype(0), unknown_dims(rank));
    return;
  }
  const std::vector<Padding> padding = paddings(context, *pads, axes, rank);
  Shape result;
  for (int64_t axis = 0; axis < rank; ++axis) result.push_back(padded_dim(context, (*shape)[axis], padding[axis]));
  context.set_output(0, context.dtype(0), result);
  if (rank == 1) pad_content(context, padding[0], result[0]);
}

void run_pad(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  const PadMode mode = pad_mode(context);
  std::optional<std::vector<int64_t>> axes;
  if (context.has_input(3)) axes = context.ints(3);
  Dims before;
  for (const Padding& padding : paddings(context, to_shape(*context.ints_from("pads", 1)), axes, src.rank()))
    before.push_back(padding.before.value());
  move_into(context, 0, [&](Tensor& dst) {
    if (mode != PadMode::constant) return pad_by_tables(context, mode, src, dst, before);
    fill_elements(dst, pad_value(context, context.input(0).dtype()).bytes());
    place(src, dst, before);
  });
}

// ---- CenterCropPad ----

namespace {

Dims cropped_axes(const OpContext& context, int64_t rank) {
  if (context.has_attr("axes")) return distinct_axes(context, context.attr_ints("axes"), rank);
  Dims axes;
  for (int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

}  // namespace

void infer_center_crop_pad(InferContext& context) {
  const std::optional<Shape>& shape = context.shape(0);
  const auto target = int_content(context, 1);
  if (!shape) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  const Dims axes = cropped_axes(context, static_cast<int64_t>(shape->size()));
  if (target && target->size() != axes.size()) context.fail("{} target dims for {} axes", target->size(), axes.size());
  Shape result = *shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    result[axes[i]] = target ? (*target)[i] : Dim::unknown();
    if (const Dim& dim = result[axes[i]]; dim.is_known() && dim.value() < 0)
      context.fail("target dim {} is negative", dim.value());
  }
  context.set_output(0, context.dtype(0), result);
}

void run_center_crop_pad(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  move_into(context, 0, [&](Tensor& dst) {
    Dims before;
    for (int64_t axis = 0; axis < src.rank(); ++axis) {
      const int64_t added = dst.dim(axis) - src.dim(axis);
      before.push_back(added >= 0 ? added / 2 : -(-added / 2));  // halves are rounded towards the start
    }
    std::memset(dst.mutable_bytes(), 0, static_cast<size_t>(dst.size_bytes()));
    place(src, dst, before);
  });
}

}  // namespace attune
