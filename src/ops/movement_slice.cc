#include "ops/movement_slice.h"

#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/strided_copy.h"

#include <algorithm>

namespace attune {
namespace {

// Exporters write "to the end" as the largest number of one integer type or another, or as a billion.
constexpr int64_t kToTheEnd = 1'000'000'000;

/// The arguments of one sliced axis, as far as they are known.
struct Bounds {
  Dim start = Dim::unknown(), end = Dim::unknown(), step = Dim::unknown();
};

/// What a slice takes from an axis of known size.
struct Range {
  int64_t start = 0, step = 1, count = 0;
};

Range concrete_range(const OpContext& context, int64_t size, int64_t start, int64_t end, int64_t step) {
  if (step == 0) context.fail("a step is 0");
  step = std::max(step, -INT64_MAX);  // so that it can be negated
  if (start < 0) start += size;
  if (end < 0) end += size;
  Range range{.step = step};
  if (step > 0) {
    range.start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, 0, size);
    if (end > range.start) range.count = (end - range.start - 1) / step + 1;
  } else {
    range.start = std::clamp<int64_t>(start, 0, std::max<int64_t>(size - 1, 0));
    end = std::clamp<int64_t>(end, -1, size - 1);
    if (size > 0 && range.start > end) range.count = (range.start - end - 1) / -step + 1;
  }
  return range;
}

/// A place on an axis of symbolic size: an offset from its start or from its end.
struct Place {
  bool from_end = false;
  Dim offset;
};

bool looks_negative(const Dim& dim) {
  // A rounded-up quotient prints as "-floor(-N/2)" and is positive.
  const std::string text = dim.text();
  return text.starts_with('-') && !text.starts_with("-floor(");
}

Place place_of(const Dim& bound, const Dim& size, bool forward) {
  if (bound == size) return {true, Dim(0)};
  if (!bound.is_known()) return looks_negative(bound) ? Place{true, bound} : Place{false, bound};
  const int64_t value = bound.value();
  if (value >= kToTheEnd) return {true, Dim(forward ? 0 : -1)};
  if (value <= -kToTheEnd) return {false, Dim(forward ? 0 : -1)};
  return {value < 0, bound};
}

/// The number of elements taken from an axis whose size or bounds are not all numbers. Bounds are taken to lie inside
/// the axis, as exporters mean them (x[:, 1:] of N is N-1); the executor infers anew with numbers.
Dim symbolic_count(const Dim& size, const Bounds& bounds) {
  if (!bounds.step.is_known() || bounds.step.value() == 0) return Dim::unknown();
  const bool forward = bounds.step.value() > 0;
  Place first = place_of(bounds.start, size, forward), last = place_of(bounds.end, size, forward);
  if (!forward) std::swap(first, last);
  Dim length = last.offset - first.offset;
  if (last.from_end && !first.from_end) length = length + size;
  if (!last.from_end && first.from_end) length = length - size;
  if (length.is_known() && length.value() < 0) return Dim(0);
  if (looks_negative(length)) return Dim::unknown();
  const Dim step = forward ? bounds.step : Dim(0) - bounds.step;
  return step == Dim(1) ? length : length.ceil_div(step);
}

Dim slice_count(const OpContext& context, const Dim& size, const Bounds& bounds) {
  if (bounds.step.is_known() && bounds.step.value() == 0) context.fail("a step is 0");
  if (size.is_known() && bounds.start.is_known() && bounds.end.is_known() && bounds.step.is_known())
    return Dim(
        concrete_range(context, size.value(), bounds.start.value(), bounds.end.value(), bounds.step.value()).count);
  return symbolic_count(size, bounds);
}

/// The given axes, or the first `count`.
Dims sliced_axes(const OpContext& context, const std::optional<std::vector<int64_t>>& given, size_t count,
                 int64_t rank) {
  if (given) {
    if (given->size() != count) context.fail("{} axes for {} starts", given->size(), count);
    return distinct_axes(context, *given, rank);
  }
  if (static_cast<int64_t>(count) > rank) context.fail("{} starts for a tensor of rank {}", count, rank);
  Dims axes(count);
  for (size_t i = 0; i < count; ++i) axes[i] = static_cast<int64_t>(i);
  return axes;
}

/// One list of bounds as Dims: unknown elements when the contents are not known.
std::vector<Dim> bound_list(const InferContext& context, std::string_view name, int i, size_t count) {
  auto list = int_content(context, name, i);
  if (list && list->size() != count) context.fail("{} {} for {} starts", list->size(), name, count);
  return list ? *list : std::vector<Dim>(count, Dim::unknown());
}

std::optional<size_t> bound_count(const InferContext& context) {
  for (const auto& [name, i] : {std::pair<std::string_view, int>{"starts", 1}, {"ends", 2}}) {
    if (const auto list = int_content(context, name, i)) return list->size();
    if (const auto length = known_length(context, i)) return static_cast<size_t>(*length);
  }
  return std::nullopt;
}

void slice_content(InferContext& context, const Dim& size, const Bounds& bounds) {
  const auto content = context.content(0);
  if (!content || !(size == Dim(static_cast<int64_t>(content->size()))) || !bounds.start.is_known() ||
      !bounds.end.is_known() || !bounds.step.is_known())
    return;
  const Range range =
      concrete_range(context, size.value(), bounds.start.value(), bounds.end.value(), bounds.step.value());
  std::vector<Dim> taken;
  for (int64_t i = 0; i < range.count; ++i) taken.push_back((*content)[range.start + i * range.step]);
  context.set_content(0, std::move(taken));
}

}  // namespace

void infer_slice(InferContext& context) {
  for (const auto& [name, i] : {std::pair<std::string_view, int>{"starts", 1}, {"ends", 2}})
    if (!context.has_attr(name) && !context.has_input(i)) context.fail("no {} are given", name);
  const std::optional<Shape>& shape = context.shape(0);
  const auto count = bound_count(context);
  if (!shape) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  const auto rank = static_cast<int64_t>(shape->size());
  const auto given_axes = int_values(context, "axes", 3);
  if (!count || (!given_axes && context.has_input(3))) {
    context.set_output(0, context.dtype(0), unknown_dims(rank));  // any axis may be sliced
    return;
  }
  const std::vector<Dim> starts = bound_list(context, "starts", 1, *count);
  const std::vector<Dim> ends = bound_list(context, "ends", 2, *count);
  const std::vector<Dim> steps =
      context.has_input(4) ? bound_list(context, "steps", 4, *count) : std::vector<Dim>(*count, Dim(1));
  const Dims axes = sliced_axes(context, given_axes, *count, rank);
  Shape result = *shape;
  for (size_t i = 0; i < axes.size(); ++i)
    result[axes[i]] = slice_count(context, (*shape)[axes[i]], {starts[i], ends[i], steps[i]});
  context.set_output(0, context.dtype(0), result);
  if (rank != 1) return;
  if (axes.size() == 1) slice_content(context, (*shape)[0], {starts[0], ends[0], steps[0]});
  if (axes.empty()) pass_content(context, result);
}

void run_slice(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  if (src.count() == 0) return;
  const auto starts = context.ints_from("starts", 1);
  const auto ends = context.ints_from("ends", 2);
  const auto steps = context.has_input(4) ? context.ints(4) : std::vector<int64_t>(starts->size(), 1);
  const Dims axes = sliced_axes(context, context.ints_from("axes", 3), starts->size(), src.rank());
  Dims src_strides = row_major_strides(src.dims());
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t& stride = src_strides[axes[i]];
    const Range range = concrete_range(context, src.dim(axes[i]), (*starts)[i], (*ends)[i], steps[i]);
    offset += range.start * stride;
    stride = range.count > 1 ? range.step * stride : 0;  // a step beyond the axis could overflow
  }
  move_into(context, 0, [&](Tensor& dst) {
    strided_copy(element_bytes(src), dst.dims(), dst.mutable_bytes(), row_major_strides(dst.dims()),
                 src.bytes() + offset * element_bytes(src), src_strides);
  });
}

}  // namespace attune
