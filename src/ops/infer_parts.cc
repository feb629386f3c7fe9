#include "ops/infer_parts.h"

#include "ops/content.h"
#include "ops/convert.h"

namespace attune {

std::optional<std::vector<Dim>> int_content(const InferContext& context, int i) {
  if (!context.has_input(i)) return std::nullopt;
  require_index_dtype(context, i);
  const std::optional<Shape>& shape = context.shape(i);
  if (shape && shape->size() > 1) context.fail("input {} has rank {}, expected a list of numbers", i, shape->size());
  if (const auto length = known_length(context, i); length && *length > kMostContentElements)
    context.fail("input {} has {} elements, more than a tensor can have dims", i, *length);
  return context.content(i);
}

std::optional<std::vector<Dim>> int_content(const InferContext& context, std::string_view name, int i) {
  if (context.has_attr(name)) return to_shape(context.attr_ints(name));
  return int_content(context, i);
}

std::optional<std::vector<int64_t>> int_values(const InferContext& context, int i) {
  const auto content = int_content(context, i);
  if (!content) return std::nullopt;
  return concrete(*content);
}

std::optional<std::vector<int64_t>> int_values(const InferContext& context, std::string_view name, int i) {
  if (context.has_attr(name)) return context.attr_ints(name);
  return int_values(context, i);
}

std::optional<int64_t> known_length(const InferContext& context, int i) {
  if (!context.has_input(i) || !context.shape(i)) return std::nullopt;
  const auto dims = concrete(*context.shape(i));
  if (!dims) return std::nullopt;
  return checked_count(*dims);
}

Dim int_scalar(const InferContext& context, int i) {
  const auto content = int_content(context, i);
  if (const auto length = known_length(context, i); length && *length != 1)
    context.fail("input {} has {} elements, expected one number", i, *length);
  return content && content->size() == 1 ? content->front() : Dim::unknown();
}

Dims distinct_axes(const OpContext& context, std::span<const int64_t> axes, int64_t rank) {
  Dims result;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t axis : axes) {
    const int64_t normalized = context.axis_in_range(axis, rank);
    if (seen[normalized]) context.fail("axis {} is named twice", axis);
    seen[normalized] = true;
    result.push_back(normalized);
  }
  return result;
}

Dim merged_dim(const Dim& a, const Dim& b, const OpContext& context) {
  if (a.is_known() && b.is_known() && a.value() != b.value())
    context.fail("dims {} and {} do not match", a.value(), b.value());
  if (a.is_known() || b.is_unknown()) return a;
  if (b.is_known() || a.is_unknown()) return b;
  return a;
}

Dim sum_dim(const Dim& a, const Dim& b, const OpContext& context) {
  const Dim sum = a + b;
  if (a.is_known() && b.is_known() && !sum.is_known()) context.fail("the dim {} + {} overflows", a.value(), b.value());
  return sum;
}

Dim product_dim(const Dim& a, const Dim& b, const OpContext& context) {
  const Dim product = a * b;
  if (a.is_known() && b.is_known() && !product.is_known())
    context.fail("the dim {} * {} overflows", a.value(), b.value());
  return product;
}

Shape unknown_dims(int64_t rank) { return Shape(static_cast<size_t>(rank), Dim::unknown()); }

Dims concrete_dims(const OpContext& context, const Shape& shape) {
  auto dims = concrete(shape);
  if (!dims) context.fail("the output shape {} cannot be computed", to_text(shape));
  return std::move(*dims);
}

void pass_content(InferContext& context, const std::optional<Shape>& output_shape) {
  if (!output_shape || output_shape->size() > 1) return;
  if (auto content = context.content(0)) context.set_content(0, std::move(*content));
}

void require_equal_dtypes(const InferContext& context, int i, int j) {
  const DType a = context.dtype(i), b = context.dtype(j);
  if (a != b && a != DType::undefined && b != DType::undefined)
    context.fail("inputs {} and {} have dtypes {} and {}, expected one", i, j, dtype_name(a), dtype_name(b));
}

void require_rank(const InferContext& context, int i, int64_t rank) {
  const std::optional<Shape>& shape = context.shape(i);
  if (shape && static_cast<int64_t>(shape->size()) != rank)
    context.fail("input {} has rank {}, expected {}", i, shape->size(), rank);
}

void require_index_dtype(const InferContext& context, int i) {
  const DType dtype = context.dtype(i);
  if (dtype != DType::i64 && dtype != DType::i32 && dtype != DType::undefined)
    context.fail("input {} has dtype {}, expected i64 or i32", i, dtype_name(dtype));
}

DType attr_dtype(const OpContext& context, std::string_view name, DType fallback) {
  if (!context.has_attr(name)) return fallback;
  return dtype_from_onnx(context.attr_int(name), context);
}

Tensor index_tensor(const KernelContext& context, int i) {
  const Tensor& tensor = context.input(i);
  if (tensor.dtype() == DType::i64) return tensor;
  if (tensor.dtype() != DType::i32)
    context.fail("input {} has dtype {}, expected i64 or i32", i, dtype_name(tensor.dtype()));
  Tensor wide = Tensor::allocate(DType::i64, tensor.dims());
  const int32_t* src = tensor.data<int32_t>();
  int64_t* dst = wide.mutable_data<int64_t>();
  for (int64_t k = 0; k < tensor.count(); ++k) dst[k] = src[k];
  return wide;
}

}  // namespace attune
