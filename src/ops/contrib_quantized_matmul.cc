#include "ops/broadcast.h"
#include "ops/contrib_qlinear.h"
#include "ops/convert.h"
#include "ops/dtype_checks.h"
#include "ops/integer_math.h"
#include "ops/integer_product.h"
#include "ops/quantize_linear.h"
#include "ops/quantized_matmul.h"

#include <algorithm>

namespace attune {
namespace {

/// Bias as f32 values, checked to have one for each column; empty when omitted.
Tensor read_bias(const KernelContext& context, int input, int64_t columns) {
  if (!context.has_input(input)) return {};
  Tensor bias = convert(context.input(input), DType::f32);
  if (bias.dims() != Dims{columns})
    context.fail("the bias has shape {}, expected one value for each of {} columns", to_text(bias.dims()), columns);
  return bias;
}

struct FloatProduct {
  const Tensor& a;
  const Tensor* a_zero;
  Tensor a_scale;
  const Tensor& b;
  const Tensor* b_zero;
  Tensor b_scale;
  Tensor bias;
};

/// The product of quantized matrices in real numbers, as f32.
Tensor float_product(const OpContext& context, const FloatProduct& product, const Dims& dims) {
  Tensor result = Tensor::allocate(DType::f32, dims);
  const auto a_lines = line_parameters(context, product.a.dims(), product.a_scale.dims(), Lines::rows);
  const auto b_lines = line_parameters(context, product.b.dims(), product.b_scale.dims(), Lines::columns);
  const int64_t m = product.a.rank() < 2 ? 1 : product.a.dim(product.a.rank() - 2);
  const float* a_scale = product.a_scale.data<float>();
  const float* b_scale = product.b_scale.data<float>();
  const float* bias = product.bias.empty() ? nullptr : product.bias.data<float>();
  float* out = result.mutable_data<float>();
  integer_matmul(context, product.a, product.a_zero, product.b, product.b_zero, [&](const ProductRow& row) {
    const float left = a_scale[a_lines.index(row.matrix_a, row.row)];
    float* line = out + (row.matrix * m + row.row) * static_cast<int64_t>(row.sums.size());
    for (size_t j = 0; j < row.sums.size(); ++j) {
      const float scale = left * b_scale[b_lines.index(row.matrix_b, static_cast<int64_t>(j))];
      line[j] = static_cast<float>(row.sums[j]) * scale + (bias == nullptr ? 0.0f : bias[j]);
    }
  });
  return result;
}

int64_t columns_of(const Tensor& b) { return b.rank() < 2 ? 1 : b.dims().back(); }

}  // namespace

// Inputs: a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias.
void infer_matmul_integer_to_float(InferContext& context) {
  for (const int i : {0, 1, 4, 5}) require_byte(context, i);
  for (const int i : {2, 3, 6}) require_plain_float(context, i);
  context.set_output(0, context.dtype(2), matmul_output_shape(context, context.shape(0), context.shape(1)));
}

void matmul_integer_to_float_kernel(KernelContext& context) {
  const Tensor& b = context.input(1);
  const FloatProduct product{.a = context.input(0),
                             .a_zero = context.has_input(4) ? &context.input(4) : nullptr,
                             .a_scale = convert(context.input(2), DType::f32),
                             .b = b,
                             .b_zero = context.has_input(5) ? &context.input(5) : nullptr,
                             .b_scale = convert(context.input(3), DType::f32),
                             .bias = read_bias(context, 6, columns_of(b))};
  const Tensor& dst = context.output(0);
  context.set_output(0, convert(float_product(context, product, dst.dims()), context.input(2).dtype()));
}

// Inputs: a, b, b_scale, b_zero_point, bias.
void infer_dynamic_quantize_matmul(InferContext& context) {
  if (context.dtype(0) != DType::f32 && context.dtype(0) != DType::undefined)
    context.fail("input 0 has dtype {}, expected f32", dtype_name(context.dtype(0)));
  require_byte(context, 1);
  require_byte(context, 3);
  context.set_output(0, DType::f32, matmul_output_shape(context, context.shape(0), context.shape(1)));
}

void dynamic_quantize_matmul_kernel(KernelContext& context) {
  const Tensor &src = context.input(0), &b = context.input(1);
  const std::span<const float> values(src.data<float>(), static_cast<size_t>(src.count()));
  const DynamicRange range = dynamic_range(values);
  Tensor a = Tensor::allocate(DType::u8, src.dims());
  quantize_to_u8(values, range, a.mutable_data<uint8_t>());
  const Tensor a_zero = Tensor::scalar<uint8_t>(range.zero_point);
  const FloatProduct product{.a = a,
                             .a_zero = &a_zero,
                             .a_scale = Tensor::scalar<float>(range.scale),
                             .b = b,
                             .b_zero = context.has_input(3) ? &context.input(3) : nullptr,
                             .b_scale = convert(context.input(2), DType::f32),
                             .bias = read_bias(context, 4, columns_of(b))};
  const Dims dims = context.output(0).dims();
  context.set_output(0, float_product(context, product, dims));
}

namespace {

// Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, c, y_scale, y_zero_point.
constexpr int kC = 6, kYScale = 7, kYZero = 8;

Tensor transposed(const Tensor& bytes) {
  const int64_t rows = bytes.dim(0), columns = bytes.dim(1);
  Tensor result = Tensor::allocate(bytes.dtype(), {columns, rows});
  const uint8_t* src = bytes.data<uint8_t>();
  uint8_t* dst = result.mutable_data<uint8_t>();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) dst[j * rows + i] = src[i * columns + j];
  return result;
}

void require_matrix(const InferContext& context, int input) {
  if (context.shape(input) && context.shape(input)->size() != 2)
    context.fail("input {} has rank {}, expected a matrix", input, context.shape(input)->size());
}

}  // namespace

void infer_qgemm(InferContext& context) {
  for (const int i : {0, 2, 3, 5, kYZero}) require_byte(context, i);
  require_single(context, 1, "a_scale");
  require_single(context, 2, "a_zero_point");
  require_single(context, kYScale, "y_scale");
  require_single(context, kYZero, "y_zero_point");
  require_matrix(context, 0);
  require_matrix(context, 3);
  if (context.has_input(kC) && context.dtype(kC) != DType::i32 && context.dtype(kC) != DType::undefined)
    context.fail("input {} has dtype {}, expected i32", kC, dtype_name(context.dtype(kC)));
  if (context.has_input(kYZero) && !context.has_input(kYScale))
    context.fail("the output has a zero point but no scale");
  std::optional<Shape> a = context.shape(0), b = context.shape(3);
  if (a && context.attr_int("transA", 0) != 0) std::swap((*a)[0], (*a)[1]);
  if (b && context.attr_int("transB", 0) != 0) std::swap((*b)[0], (*b)[1]);
  std::optional<Shape> shape = matmul_output_shape(context, a, b);
  if (!shape) shape = Shape{a ? (*a)[0] : Dim::unknown(), b ? (*b)[1] : Dim::unknown()};
  context.set_output(0, context.has_input(kYZero) ? context.dtype(kYZero) : DType::f32, std::move(shape));
}

void qgemm_kernel(KernelContext& context) {
  const Tensor a = context.attr_int("transA", 0) != 0 ? transposed(context.input(0)) : context.input(0);
  const Tensor b = context.attr_int("transB", 0) != 0 ? transposed(context.input(3)) : context.input(3);
  Tensor& dst = context.output(0);
  const int64_t n = b.dim(1);
  const float alpha = context.attr_float("alpha", 1.0f);
  const auto a_scale = static_cast<float>(element_as_double(context.input(1), 0));
  const Tensor b_scale = convert(context.input(4), DType::f32);
  const auto b_lines = line_parameters(context, b.dims(), b_scale.dims(), Lines::columns);
  const Tensor* c = context.has_input(kC) ? &context.input(kC) : nullptr;
  Dims c_strides(2, 0);
  if (c != nullptr) {
    if (c->rank() > 2 || broadcast_dims(c->dims(), dst.dims(), context) != dst.dims())
      context.fail("input {} of shape {} does not broadcast to {}", kC, to_text(c->dims()), to_text(dst.dims()));
    c_strides = broadcast_strides(c->dims(), dst.dims());
  }
  const bool quantized = context.has_input(kYZero);
  const auto y = quantized ? read_quantization(context, kYScale, kYZero) : TensorQuantization{};
  const Requantize to = requantize_to(quantized ? dst.dtype() : DType::u8, y.zero);
  integer_matmul(context, a, &context.input(2), b, &context.input(5), [&](const ProductRow& row) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = row.sums[static_cast<size_t>(j)];
      if (c != nullptr) sum = wrapping_add(sum, c->data<int32_t>()[row.row * c_strides[0] + j * c_strides[1]]);
      const float scale = alpha * a_scale * b_scale.data<float>()[b_lines.index(0, j)];
      if (quantized)
        dst.mutable_data<uint8_t>()[row.row * n + j] = quantized_byte(static_cast<float>(sum) * (scale / y.scale), to);
      else
        dst.mutable_data<float>()[row.row * n + j] = static_cast<float>(sum) * scale;
    }
  });
}

double qgemm_flops(const CostContext& context) {
  const Dims a = context.input_dims(0);
  if (a.size() != 2) return 0;
  return 2.0 * context.output_elements(0) * static_cast<double>(a[context.attr_int("transA", 0) != 0 ? 0 : 1]);
}

}  // namespace attune
