#include "ops/contrib_qlinear.h"

#include "base/simd_loop.h"
#include "ops/convert.h"
#include "ops/dtype_checks.h"
#include "ops/elementwise.h"
#include "ops/integer_product.h"

#include <array>
#include <cmath>

namespace attune {

TensorQuantization read_quantization(const KernelContext& context, int scale_input, int zero_input) {
  TensorQuantization result;
  const Tensor& scale = context.input(scale_input);
  if (scale.count() != 1) context.fail("input {} has shape {}, expected one scale", scale_input, to_text(scale.dims()));
  result.scale = static_cast<float>(element_as_double(scale, 0));
  if (!context.has_input(zero_input)) return result;
  const Tensor& zero = context.input(zero_input);
  if (zero.count() != 1)
    context.fail("input {} has shape {}, expected one zero point", zero_input, to_text(zero.dims()));
  result.zero = static_cast<float>(element_as_double(zero, 0));
  return result;
}

void check_quantization(const InferContext& context, int scale_input, int zero_input, DType dtype) {
  const DType scale = context.dtype(scale_input);
  if (scale != DType::f32 && scale != DType::undefined)
    context.fail("input {} (a scale) has dtype {}, expected f32", scale_input, dtype_name(scale));
  require_single(context, scale_input, "scale");
  if (!context.has_input(zero_input)) return;
  require_single(context, zero_input, "zero point");
  const DType zero = context.dtype(zero_input);
  if (zero != dtype && zero != DType::undefined && dtype != DType::undefined)
    context.fail("input {} (a zero point) has dtype {}, its data {}", zero_input, dtype_name(zero), dtype_name(dtype));
}

// Inputs: a, a_scale, a_zero_point, b, b_scale, b_zero_point, c_scale, c_zero_point.
void infer_qlinear_binary(InferContext& context) {
  for (const int i : {3, 4, 6}) require_input(context, i);
  require_byte(context, 0);
  require_byte(context, 3);
  const DType dtype = context.dtype(0);
  if (dtype != DType::undefined && context.dtype(3) != DType::undefined && dtype != context.dtype(3))
    context.fail("the operands have dtypes {} and {}; they must agree", dtype_name(dtype),
                 dtype_name(context.dtype(3)));
  check_quantization(context, 1, 2, dtype);
  check_quantization(context, 4, 5, dtype);
  check_quantization(context, 6, 7, dtype);
  context.set_output(0, dtype, broadcast_shapes(context.shape(0), context.shape(3), context));
}

namespace {

/// Output 0 = quantize(fn(a, b)) of the dequantized operands.
template <class F> void qlinear_binary(KernelContext& context, F fn) {
  const auto a = read_quantization(context, 1, 2);
  const auto b = read_quantization(context, 4, 5);
  const auto c = read_quantization(context, 6, 7);
  Tensor& dst = context.output(0);
  const Requantize to = requantize_to(dst.dtype(), c.zero);
  dispatch<TypeList<int8_t, uint8_t>>(dst.dtype(), context, [&]<class T>() {
    const auto join = [=](T x, T y) {
      const float left = a.scale * (static_cast<float>(x) - a.zero);
      const float right = b.scale * (static_cast<float>(y) - b.zero);
      return static_cast<T>(quantized_byte(fn(left, right) / c.scale, to));
    };
    if (context.input(0).dims() == context.input(3).dims()) {
      const T *left = context.input(0).data<T>(), *right = context.input(3).data<T>();
      T* out = dst.mutable_data<T>();
      parallel_for(dst.count(), kElementwiseGrain, [=](int64_t begin, int64_t end) {
        ATTUNE_SIMD_LOOP()
        for (int64_t i = begin; i < end; ++i) out[i] = join(left[i], right[i]);
      });
      return;
    }
    map_binary<T, T, T>(context.input(0), context.input(3), dst, join);
  });
}

/// Output 0 = quantize(fn(x)) through a table of the 256 possible inputs.
template <class F> void qlinear_unary(KernelContext& context, F fn) {
  const auto x = read_quantization(context, 1, 2);
  const auto y = read_quantization(context, 3, 4);
  Tensor& dst = context.output(0);
  const DType dtype = dst.dtype();
  const Requantize to = requantize_to(dtype, y.zero);
  std::array<uint8_t, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const float value = x.scale * (byte_value(static_cast<uint8_t>(i), dtype) - x.zero);
    table[i] = quantized_byte(fn(value) / y.scale, to);
  }
  map_range(context.input(0).data<uint8_t>(), dst.mutable_data<uint8_t>(), dst.count(),
            [table](uint8_t byte) { return table[byte]; });
}

}  // namespace

void qlinear_add_kernel(KernelContext& context) {
  qlinear_binary(context, [](float a, float b) { return a + b; });
}
void qlinear_mul_kernel(KernelContext& context) {
  qlinear_binary(context, [](float a, float b) { return a * b; });
}

// Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point.
void infer_qlinear_unary(InferContext& context) {
  require_input(context, 3);
  require_byte(context, 0);
  check_quantization(context, 1, 2, context.dtype(0));
  check_quantization(context, 3, 4, context.dtype(0));
  context.copy_type(0, 0);
}

void qlinear_sigmoid_kernel(KernelContext& context) {
  qlinear_unary(context, [](float x) { return 1.0f / (1.0f + std::exp(-x)); });
}
void qlinear_leaky_relu_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 0.01f);
  qlinear_unary(context, [alpha](float x) { return x < 0 ? alpha * x : x; });
}

}  // namespace attune
