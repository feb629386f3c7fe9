// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include "ops/quantize_linear.h"

#include "ops/families.h"

namespace attune {

std::span<const OpDef> quantize_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "DequantizeLinear",
       .since = 10,
       .inputs = {2, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_dequantize_linear,
       .kernel = dequantize_linear_kernel,
       .flops = elementwise_flops},
      {.domain = "",
       .name = "DynamicQuantizeLinear",
       .since = 11,
       .inputs = {1, 1},
       .outputs = {1, 3},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_dynamic_quantize_linear,
       .kernel = dynamic_quantize_linear_kernel,
       .flops = elementwise_flops},
      {.domain = "",
       .name = "QuantizeLinear",
       .since = 10,
       .inputs = {2, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_quantize_linear,
       .kernel = quantize_linear_kernel,
       .flops = elementwise_flops},
  };
  return ops;
}

}  // namespace attune
