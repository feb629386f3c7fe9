// Operators whose output depends on which elements qualify: NonZero, Compress, OneHot, TopK, Unique,
// NonMaxSuppression.
#include "ops/axis_split.h"
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/select_nms.h"
#include "ops/select_topk.h"
#include "ops/select_unique.h"
#include "ops/strided_copy.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attune {
namespace {

// ---- NonZero ----

void infer_nonzero(InferContext& context) {
  const std::optional<Shape>& shape = context.shape(0);
  const Dim rank = shape ? Dim(static_cast<int64_t>(shape->size())) : Dim::unknown();
  context.set_output(0, DType::i64, Shape{rank, Dim::unknown()});
}

void run_nonzero(KernelContext& context) {
  const Tensor& src = context.input(0);
  std::vector<int64_t> found;  // positions in row-major order
  dispatch<PlainTypes>(src.dtype(), context, [&]<class T>() {
    const T* from = src.data<T>();
    for (int64_t i = 0; i < src.count(); ++i)
      if (static_cast<compute_t<T>>(from[i]) != compute_t<T>{0}) found.push_back(i);
  });
  const auto count = static_cast<int64_t>(found.size());
  int64_t* to = context.allocate(0, DType::i64, {src.rank(), count}).mutable_data<int64_t>();
  for (int64_t axis = src.rank(); axis-- > 0;)
    for (int64_t i = 0; i < count; ++i) {
      to[axis * count + i] = found[i] % src.dim(axis);
      found[i] /= src.dim(axis);
    }
}

// ---- Compress ----

std::vector<int64_t> chosen_places(const Tensor& condition) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < condition.count(); ++i)
    if (condition.data<bool>()[i]) places.push_back(i);
  return places;
}

void infer_compress(InferContext& context) {
  if (context.dtype(1) != DType::boolean && context.dtype(1) != DType::undefined)
    context.fail("the condition has dtype {}, expected bool", dtype_name(context.dtype(1)));
  require_rank(context, 1, 1);
  const std::optional<Shape>& shape = context.shape(0);
  const Tensor* condition = context.constant(1);
  const Dim count = condition ? Dim(static_cast<int64_t>(chosen_places(*condition).size())) : Dim::unknown();
  if (!context.has_attr("axis")) {
    context.set_output(0, context.dtype(0), Shape{count});
  } else if (shape) {
    Shape result = *shape;
    result[context.axis_in_range(context.attr_int("axis"), static_cast<int64_t>(shape->size()))] = count;
    context.set_output(0, context.dtype(0), result);
  } else {
    context.set_output(0, context.dtype(0), std::nullopt);
  }
  const auto content = context.content(0);
  if (!content || !condition || !shape || shape->size() != 1) return;
  std::vector<Dim> chosen;
  for (const int64_t place : chosen_places(*condition))
    chosen.push_back(place < static_cast<int64_t>(content->size()) ? (*content)[place] : Dim::unknown());
  context.set_content(0, std::move(chosen));
}

void run_compress(KernelContext& context) {
  const Tensor& input = context.input(0);
  const std::vector<int64_t> places = chosen_places(context.input(1));
  const Tensor src = context.has_attr("axis") ? movable(input) : movable(input).reshaped({input.count()});
  const int64_t axis = context.has_attr("axis") ? context.axis_in_range(context.attr_int("axis"), src.rank()) : 0;
  if (!places.empty() && places.back() >= src.dim(axis))
    context.fail("the condition chooses element {} of {}", places.back(), src.dim(axis));
  move_into(context, 0, [&](Tensor& dst) {
    const AxisSplit split = split_axis(src.dims(), axis);
    const int64_t block = split.inner * element_bytes(src);
    std::byte* to = dst.mutable_bytes();
    for (int64_t outer = 0; outer < split.outer; ++outer)
      for (const int64_t place : places) {
        std::memcpy(to, src.bytes() + (outer * split.length + place) * block, static_cast<size_t>(block));
        to += block;
      }
  });
}

// ---- OneHot ----

int64_t inserted_axis(const OpContext& context, int64_t rank) {
  return context.axis_in_range(context.attr_int("axis", -1), rank + 1);
}

Dim one_hot_depth(const InferContext& context) {
  if (const auto length = known_length(context, 1); length && *length != 1)
    context.fail("depth has {} elements, expected one", *length);
  if (const auto content = context.content(1); content && content->size() == 1) return content->front();
  const Tensor* depth = context.constant(1);
  return depth != nullptr ? Dim(element_as_int(*depth, 0)) : Dim::unknown();
}

void infer_one_hot(InferContext& context) {
  if (const auto length = known_length(context, 2); length && *length != 2)
    context.fail("values have {} elements, expected [off, on]", *length);
  const Dim depth = one_hot_depth(context);
  if (depth.is_known() && depth.value() < 1) context.fail("depth {} is not positive", depth.value());
  std::optional<Shape> result = context.shape(0);
  if (result) result->insert(result->begin() + inserted_axis(context, static_cast<int64_t>(result->size())), depth);
  context.set_output(0, context.dtype(2), result);
}

void run_one_hot(KernelContext& context) {
  const Tensor& indices = context.input(0);
  const Tensor values = movable(context.input(2));
  const int64_t axis = inserted_axis(context, indices.rank());
  move_into(context, 0, [&](Tensor& dst) {
    const AxisSplit split = split_axis(dst.dims(), axis);
    const int bytes = element_bytes(dst);
    std::byte* to = dst.mutable_bytes();
    const std::byte* on = values.bytes() + bytes;
    strided_copy(bytes, Dims{dst.count()}, to, Dims{1}, values.bytes(), Dims{0});
    for (int64_t i = 0; i < indices.count(); ++i) {
      int64_t index = element_as_int(indices, i);
      if (index < -split.length || index >= split.length) continue;  // a row without a hot element
      if (index < 0) index += split.length;
      const int64_t outer = i / split.inner, inner = i % split.inner;
      std::memcpy(to + ((outer * split.length + index) * split.inner + inner) * bytes, on, static_cast<size_t>(bytes));
    }
  });
}

OpDef select_op(std::string_view name, int since, Arity inputs, Arity outputs, void (*infer)(InferContext&),
                void (*kernel)(KernelContext&)) {
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

std::span<const OpDef> select_ops() {
  static const OpDef ops[] = {
      select_op("NonZero", 9, {1, 1}, {1, 1}, infer_nonzero, run_nonzero),
      select_op("Compress", 9, {2, 2}, {1, 1}, infer_compress, run_compress),
      select_op("OneHot", 9, {3, 3}, {1, 1}, infer_one_hot, run_one_hot),
      select_op("TopK", 1, {1, 2}, {2, 2}, infer_topk, run_topk),
      select_op("Unique", 11, {1, 1}, {1, 4}, infer_unique, run_unique),
      select_op("NonMaxSuppression", 10, {2, 5}, {1, 1}, infer_non_max_suppression, run_non_max_suppression),
  };
  return ops;
}

}  // namespace attune
