#include "ops/movement_join.h"

#include "ops/axis_split.h"
#include "ops/content.h"
#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/strided_copy.h"

#include <algorithm>

namespace attune {
namespace {

// ---- Concat ----

/// Lists of which some are known make a list of which some elements are known.
void join_content(InferContext& context, const Dim& length) {
  if (!length.is_known() || length.value() > kMostContentElements) return;
  std::vector<Dim> joined;
  bool any_known = false;
  for (int i = 0; i < context.input_count(); ++i) {
    const Shape& shape = *context.shape(i);  // known: their sum is
    if (const auto content = context.content(i)) {
      joined.insert(joined.end(), content->begin(), content->end());
      any_known = true;
    } else {
      joined.insert(joined.end(), static_cast<size_t>(shape[0].value()), Dim::unknown());
    }
  }
  if (any_known) context.set_content(0, std::move(joined));
}

}  // namespace

void infer_concat(InferContext& context) {
  std::optional<Shape> result;
  int64_t axis = 0;
  Dim length(0);
  DType dtype = DType::undefined;
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) context.fail("input {} is missing", i);
    require_equal_dtypes(context, 0, i);
    if (dtype == DType::undefined) dtype = context.dtype(i);
    const std::optional<Shape>& shape = context.shape(i);
    if (!shape) {
      length = Dim::unknown();
      continue;
    }
    if (!result) {
      axis = context.axis_in_range(context.attr_int("axis"), static_cast<int64_t>(shape->size()));
      result = shape;
    } else if (shape->size() != result->size()) {
      context.fail("inputs have ranks {} and {}, expected one", result->size(), shape->size());
    }
    for (size_t j = 0; j < shape->size(); ++j)
      if (static_cast<int64_t>(j) != axis) (*result)[j] = merged_dim((*result)[j], (*shape)[j], context);
    length = sum_dim(length, (*shape)[axis], context);
  }
  if (result) (*result)[axis] = length;
  context.set_output(0, dtype, result);
  if (result && result->size() == 1) join_content(context, length);
}

void run_concat(KernelContext& context) {
  move_into(context, 0, [&](Tensor& dst) {
    const int64_t axis = context.axis_in_range(context.attr_int("axis"), dst.rank());
    const AxisSplit whole = split_axis(dst.dims(), axis);
    std::byte* to = dst.mutable_bytes();
    for (int i = 0; i < context.input_count(); ++i) {
      const Tensor src = movable(context.input(i));
      const int64_t row = src.dim(axis) * whole.inner;
      strided_copy(element_bytes(src), Dims{whole.outer, row}, to, Dims{whole.length * whole.inner, 1}, src.bytes(),
                   Dims{row, 1});
      to += row * element_bytes(src);
    }
  });
}

// ---- Split ----

namespace {

/// Sizes of the parts. Equal parts where none are given; since opset 18 the last may be smaller.
std::vector<Dim> part_sizes(const OpContext& context, const Dim& dim, const std::optional<std::vector<Dim>>& given) {
  const int64_t parts = context.output_count();
  if (parts == 0) context.fail("the node has no outputs");
  if (given) {
    if (static_cast<int64_t>(given->size()) != parts)
      context.fail("{} part sizes for {} outputs", given->size(), parts);
    for (const Dim& size : *given)
      if (size.is_known() && size.value() < 0) context.fail("part size {} is negative", size.value());
    Dim sum(0);
    for (const Dim& size : *given) sum = sum + size;
    if (concrete(*given) && dim.is_known() && !(sum == dim))
      context.fail("part sizes add up to {}, the dim is {}", sum.text(), dim.value());
    return *given;
  }
  if (const int64_t asked = context.attr_int("num_outputs", parts); asked != parts)
    context.fail("num_outputs is {}, but the node has {} outputs", asked, parts);
  if (context.version() < 18) {
    if (dim.is_known() && dim.value() % parts != 0)
      context.fail("a dim of {} does not split into {} equal parts", dim.value(), parts);
    return std::vector<Dim>(static_cast<size_t>(parts), dim.floor_div(Dim(parts)));
  }
  const Dim chunk = dim.ceil_div(Dim(parts));
  std::vector<Dim> sizes(static_cast<size_t>(parts), chunk);
  if (!dim.is_known()) {
    if (!(dim.floor_div(Dim(parts)) == chunk)) sizes.back() = dim - chunk * Dim(parts - 1);
    return sizes;
  }
  int64_t left = dim.value();
  for (Dim& size : sizes) {
    size = Dim(std::min(left, chunk.value()));
    left -= size.value();
  }
  return sizes;
}

}  // namespace

void infer_split(InferContext& context) {
  std::optional<std::vector<Dim>> given = int_content(context, "split", 1);
  if (!given && context.has_input(1)) given = unknown_dims(context.output_count());
  const std::optional<Shape>& shape = context.shape(0);
  if (!shape) {
    for (int i = 0; i < context.output_count(); ++i) context.set_output(i, context.dtype(0), std::nullopt);
    return;
  }
  const int64_t axis = context.axis_in_range(context.attr_int("axis", 0), static_cast<int64_t>(shape->size()));
  const std::vector<Dim> sizes = part_sizes(context, (*shape)[axis], given);
  const auto content = shape->size() == 1 && concrete(sizes) ? context.content(0) : std::nullopt;
  int64_t position = 0;
  for (int i = 0; i < context.output_count(); ++i) {
    Shape part = *shape;
    part[axis] = sizes[i];
    context.set_output(i, context.dtype(0), part);
    if (!content) continue;
    const int64_t end = position + sizes[i].value();
    if (end > static_cast<int64_t>(content->size())) break;
    context.set_content(i, {content->begin() + position, content->begin() + end});
    position = end;
  }
}

void run_split(KernelContext& context) {
  const Tensor src = movable(context.input(0));
  const int64_t axis = context.axis_in_range(context.attr_int("axis", 0), src.rank());
  std::optional<std::vector<Dim>> given;
  if (const auto sizes = context.ints_from("split", 1)) given = to_shape(*sizes);
  const Dims sizes = concrete_dims(context, part_sizes(context, Dim(src.dim(axis)), given));
  if (src.count() == 0) return;
  const AxisSplit whole = split_axis(src.dims(), axis);
  const std::byte* from = src.bytes();
  for (int i = 0; i < context.output_count(); ++i) {
    const int64_t row = sizes[i] * whole.inner;
    if (context.wants_output(i))
      move_into(context, i, [&](Tensor& dst) {
        strided_copy(element_bytes(src), Dims{whole.outer, row}, dst.mutable_bytes(), Dims{row, 1}, from,
                     Dims{whole.length * whole.inner, 1});
      });
    from += row * element_bytes(src);
  }
}

}  // namespace attune
