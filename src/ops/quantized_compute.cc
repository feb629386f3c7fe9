// Convolutions and matrix products of 8-bit integers.
#include "ops/families.h"
#include "ops/quantized_conv.h"
#include "ops/quantized_matmul.h"

namespace attune {

std::span<const OpDef> quantized_compute_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "ConvInteger",
       .since = 10,
       .inputs = {2, 4},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_speed,
       .infer = infer_conv_integer,
       .kernel = conv_integer_kernel,
       .flops = conv_integer_flops},
      {.domain = "",
       .name = "MatMulInteger",
       .since = 10,
       .inputs = {2, 4},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_matmul_integer,
       .kernel = matmul_integer_kernel,
       .flops = [](const CostContext& context) { return matmul_flops_of(context, 0); }},
      {.domain = "",
       .name = "QLinearConv",
       .since = 10,
       .inputs = {8, 9},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_speed,
       .infer = infer_qlinear_conv,
       .kernel = qlinear_conv_kernel,
       .flops = qlinear_conv_flops},
      {.domain = "",
       .name = "QLinearMatMul",
       .since = 10,
       .inputs = {8, 8},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_qlinear_matmul,
       .kernel = qlinear_matmul_kernel,
       .flops = [](const CostContext& context) { return matmul_flops_of(context, 0); }},
  };
  return ops;
}

}  // namespace attune
