// Quantized operators of com.microsoft, as ONNX Runtime's quantizer writes them.
#include "ops/contrib_qlinear.h"
#include "ops/families.h"
#include "ops/quantize_linear.h"
#include "ops/quantized_matmul.h"

namespace attune {
namespace {

struct Contrib {
  std::string_view name;
  Arity inputs;  // the minimum counts up to the first optional one; inference checks those behind it
  LayoutClass layout_class;
  void (*infer)(InferContext&);
  void (*kernel)(KernelContext&);
  double (*flops)(const CostContext&);
};

OpDef contrib_op(const Contrib& op) {
  return {.domain = "com.microsoft",
          .name = op.name,
          .since = 1,
          .inputs = op.inputs,
          .outputs = {1, 1},
          .layout_class = op.layout_class,
          .infer = op.infer,
          .kernel = op.kernel,
          .flops = op.flops};
}

double product_flops(const CostContext& context) { return matmul_flops_of(context, 0); }
double input_flops(const CostContext& context) { return context.input_elements(0); }

}  // namespace

std::span<const OpDef> contrib_quantized_ops() {
  using enum LayoutClass;
  static const OpDef ops[] = {
      contrib_op({"DequantizeLinear",
                  {2, 3},
                  decides_function,
                  infer_dequantize_linear,
                  dequantize_linear_kernel,
                  elementwise_flops}),
      contrib_op({"DynamicQuantizeMatMul",
                  {3, 5},
                  decides_function,
                  infer_dynamic_quantize_matmul,
                  dynamic_quantize_matmul_kernel,
                  product_flops}),
      contrib_op({"MatMulIntegerToFloat",
                  {4, 7},
                  decides_function,
                  infer_matmul_integer_to_float,
                  matmul_integer_to_float_kernel,
                  product_flops}),
      contrib_op({"QGemm", {6, 9}, decides_function, infer_qgemm, qgemm_kernel, qgemm_flops}),
      contrib_op({"QLinearAdd", {2, 8}, irrelevant, infer_qlinear_binary, qlinear_add_kernel, elementwise_flops}),
      contrib_op({"QLinearAveragePool",
                  {2, 5},
                  decides_speed,
                  infer_qlinear_average_pool,
                  qlinear_average_pool_kernel,
                  input_flops}),
      contrib_op({"QLinearConcat",
                  {4, kVariadic},
                  decides_function,
                  infer_qlinear_concat,
                  qlinear_concat_kernel,
                  elementwise_flops}),
      contrib_op({"QLinearGlobalAveragePool",
                  {5, 5},
                  decides_speed,
                  infer_qlinear_global_average_pool,
                  qlinear_global_average_pool_kernel,
                  input_flops}),
      contrib_op(
          {"QLinearLeakyRelu", {2, 5}, irrelevant, infer_qlinear_unary, qlinear_leaky_relu_kernel, elementwise_flops}),
      contrib_op({"QLinearMul", {2, 8}, irrelevant, infer_qlinear_binary, qlinear_mul_kernel, elementwise_flops}),
      contrib_op(
          {"QLinearSigmoid", {2, 5}, irrelevant, infer_qlinear_unary, qlinear_sigmoid_kernel, elementwise_flops}),
      contrib_op({"QLinearSoftmax",
                  {2, 5},
                  decides_function,
                  infer_qlinear_softmax,
                  qlinear_softmax_kernel,
                  elementwise_flops}),
      contrib_op({"QuantizeLinear",
                  {2, 3},
                  decides_function,
                  infer_quantize_linear,
                  quantize_linear_kernel,
                  elementwise_flops}),
  };
  return ops;
}

}  // namespace attune
