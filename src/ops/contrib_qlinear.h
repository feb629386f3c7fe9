// The QLinear operators of com.microsoft: 8-bit tensors in and out, each with one scale and zero point.
#pragma once

#include "ops/op.h"

namespace attune {

/// Scale and zero point of a whole tensor.
struct TensorQuantization {
  float scale = 1.0f;
  float zero = 0.0f;
};
/// Reads them from two inputs; an omitted zero point is 0. Fails unless each holds one element.
TensorQuantization read_quantization(const KernelContext& context, int scale_input, int zero_input);
/// Checks the types of such a pair in shape inference; the data has `dtype`.
void check_quantization(const InferContext& context, int scale_input, int zero_input, DType dtype);
/// The number that a byte of an i8 or u8 tensor stands for.
inline float byte_value(uint8_t byte, DType dtype) {
  return static_cast<float>(dtype == DType::i8 ? static_cast<int>(static_cast<int8_t>(byte)) : static_cast<int>(byte));
}

// Elementwise.
void infer_qlinear_binary(InferContext& context);
void qlinear_add_kernel(KernelContext& context);
void qlinear_mul_kernel(KernelContext& context);
void infer_qlinear_unary(InferContext& context);
void qlinear_sigmoid_kernel(KernelContext& context);
void qlinear_leaky_relu_kernel(KernelContext& context);

// Along an axis.
void infer_qlinear_softmax(InferContext& context);
void qlinear_softmax_kernel(KernelContext& context);
void infer_qlinear_concat(InferContext& context);
void qlinear_concat_kernel(KernelContext& context);

// Pooling.
void infer_qlinear_global_average_pool(InferContext& context);
void qlinear_global_average_pool_kernel(KernelContext& context);
void infer_qlinear_average_pool(InferContext& context);
void qlinear_average_pool_kernel(KernelContext& context);

// Matrix products.
void infer_matmul_integer_to_float(InferContext& context);
void matmul_integer_to_float_kernel(KernelContext& context);
void infer_dynamic_quantize_matmul(InferContext& context);
void dynamic_quantize_matmul_kernel(KernelContext& context);
void infer_qgemm(InferContext& context);
void qgemm_kernel(KernelContext& context);
double qgemm_flops(const CostContext& context);

}  // namespace attune
