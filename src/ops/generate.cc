// Operators that make tensors out of little: Constant, ConstantOfShape, EyeLike, Range.
#include "ops/content.h"
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/strided_copy.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

// ---- Constant ----

Tensor constant_value(const OpContext& context) {
  if (context.has_attr("value")) return context.attr_tensor("value");
  if (context.has_attr("value_int")) return Tensor::scalar<int64_t>(context.attr_int("value_int"));
  if (context.has_attr("value_ints")) return Tensor::vector(context.attr_ints("value_ints"));
  if (context.has_attr("value_float")) return Tensor::scalar<float>(context.attr_float("value_float"));
  if (context.has_attr("value_floats")) {
    const std::vector<float>& values = context.attr_floats("value_floats");
    return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
  }
  if (context.has_attr("value_string") || context.has_attr("value_strings"))
    context.unsupported("string tensors are not supported");
  context.fail("no attribute gives the value");
}

void infer_constant(InferContext& context) {
  const Tensor value = constant_value(context);
  context.set_output(0, value.dtype(), to_shape(value.dims()));
  if (auto content = content_of(value)) context.set_content(0, std::move(*content));
}

void run_constant(KernelContext& context) { context.set_output(0, constant_value(context)); }

// ---- ConstantOfShape ----

Tensor fill_value(const OpContext& context) {
  if (!context.has_attr("value")) return Tensor::zeros(DType::f32, {1});
  const Tensor& value = context.attr_tensor("value");
  if (value.count() != 1) context.fail("value has {} elements, expected one", value.count());
  return value;
}

void infer_constant_of_shape(InferContext& context) {
  const Tensor value = fill_value(context);
  const auto dims = int_content(context, 0);
  if (!dims) {
    const auto rank = known_length(context, 0);
    context.set_output(0, value.dtype(), rank ? std::optional(unknown_dims(*rank)) : std::nullopt);
    return;
  }
  for (const Dim& dim : *dims)
    if (dim.is_known() && dim.value() < 0) context.fail("dim {} is negative", dim.value());
  context.set_output(0, value.dtype(), *dims);
  const auto element = content_of(value.reshaped({}));
  const Dim count = element_count(*dims);
  if (element && dims->size() <= 1 && count.is_known() && count.value() <= kMostContentElements)
    context.set_content(0, std::vector<Dim>(static_cast<size_t>(count.value()), element->front()));
}

void run_constant_of_shape(KernelContext& context) {
  const Tensor value = movable(fill_value(context));
  move_into(context, 0, [&](Tensor& dst) {
    strided_copy(element_bytes(value), Dims{dst.count()}, dst.mutable_bytes(), Dims{1}, value.bytes(), Dims{0});
  });
}

// ---- EyeLike ----

void infer_eye_like(InferContext& context) {
  require_rank(context, 0, 2);
  context.set_output(0, attr_dtype(context, "dtype", context.dtype(0)), context.shape(0).value_or(unknown_dims(2)));
}

void run_eye_like(KernelContext& context) {
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  const int64_t rows = dst.dim(0), columns = dst.dim(1);
  const int64_t k = std::clamp(context.attr_int("k", 0), -rows, columns);  // beyond these no diagonal is left
  dispatch<PlainTypes>(dst.dtype(), context, [&]<class T>() {
    T* to = dst.mutable_data<T>();
    std::fill_n(to, dst.count(), static_cast<T>(0));
    for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns; ++row)
      to[row * columns + row + k] = static_cast<T>(1);
  });
}

// ---- Range ----

/// ceil((limit - start) / delta), at least 0.
int64_t range_count(const OpContext& context, const Tensor& start, const Tensor& limit, const Tensor& delta) {
  if (is_float(start.dtype())) {
    const double step = element_as_double(delta, 0);
    const double count = std::ceil((element_as_double(limit, 0) - element_as_double(start, 0)) / step);
    if (step == 0 || !(count < 0x1p62)) context.fail("the range has no finite number of elements");
    return std::max<int64_t>(0, static_cast<int64_t>(std::max(count, 0.0)));
  }
  const __int128 step = element_as_int(delta, 0);
  if (step == 0) context.fail("delta is 0");
  const __int128 span = static_cast<__int128>(element_as_int(limit, 0)) - element_as_int(start, 0);
  if (span == 0 || (span > 0) != (step > 0)) return 0;
  const __int128 count = (span + step + (step > 0 ? -1 : 1)) / step;
  if (count > INT64_MAX) context.fail("the range has too many elements");
  return static_cast<int64_t>(count);
}

void infer_range(InferContext& context) {
  for (int i = 0; i < 3; ++i) {
    require_equal_dtypes(context, 0, i);
    if (const auto length = known_length(context, i); length && *length != 1)
      context.fail("input {} has {} elements, expected one number", i, *length);
  }
  const DType dtype = context.dtype(0);
  const Tensor *start = context.constant(0), *limit = context.constant(1), *delta = context.constant(2);
  if (start != nullptr && limit != nullptr && delta != nullptr) {
    context.set_output(0, dtype, Shape{range_count(context, *start, *limit, *delta)});
    return;
  }
  context.set_output(0, dtype, Shape{Dim::unknown()});
  if (dtype != DType::i64 && dtype != DType::i32) return;
  const Dim first = int_scalar(context, 0), end = int_scalar(context, 1), step = int_scalar(context, 2);
  Dim count = step == Dim(1) ? end - first : (end - first).ceil_div(step);
  if (count.is_known()) count = Dim(std::max<int64_t>(count.value(), 0));
  context.set_output(0, dtype, Shape{count});
  if (!count.is_known() || count.value() > kMostContentElements) return;
  std::vector<Dim> content;
  for (int64_t i = 0; i < count.value(); ++i) content.push_back(first + Dim(i) * step);
  context.set_content(0, std::move(content));
}

void run_range(KernelContext& context) {
  Tensor& dst = context.output(0);
  dispatch<NumericTypes>(dst.dtype(), context, [&]<class T>() {
    T* to = dst.mutable_data<T>();
    if constexpr (std::is_integral_v<T>) {
      const auto start = static_cast<uint64_t>(element_as_int(context.input(0), 0));
      const auto delta = static_cast<uint64_t>(element_as_int(context.input(2), 0));
      for (int64_t i = 0; i < dst.count(); ++i) to[i] = static_cast<T>(start + static_cast<uint64_t>(i) * delta);
    } else {
      const double start = element_as_double(context.input(0), 0), delta = element_as_double(context.input(2), 0);
      for (int64_t i = 0; i < dst.count(); ++i)
        to[i] = static_cast<T>(static_cast<compute_t<T>>(start + static_cast<double>(i) * delta));
    }
  });
}

}  // namespace

std::span<const OpDef> generate_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "Constant",
       .since = 1,
       .inputs = {0, 0},
       .outputs = {1, 1},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_constant,
       .kernel = run_constant},
      {.domain = "",
       .name = "ConstantOfShape",
       .since = 9,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_constant_of_shape,
       .kernel = run_constant_of_shape},
      {.domain = "",
       .name = "EyeLike",
       .since = 9,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_eye_like,
       .kernel = run_eye_like},
      {.domain = "",
       .name = "Range",
       .since = 11,
       .inputs = {3, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_range,
       .kernel = run_range},
  };
  return ops;
}

}  // namespace attune
