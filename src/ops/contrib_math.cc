// FusedConv, FusedGemm, FusedMatMul, Gelu and its relatives, BiasAdd.
#include "ops/contrib_math.h"

#include "ops/families.h"

namespace attune {
namespace {

using namespace contrib;

/// Two operations for each pair of weight and output pixel.
double conv_flops(const CostContext& context) {
  const Dims weights = context.input_dims(1), dst = context.output_dims(0);
  if (weights.size() < 3 || dst.size() < 2 || weights[0] == 0) return 0;
  return 2.0 * context.output_elements(0) * context.input_elements(1) / static_cast<double>(weights[0]);
}

double gelu_flops(const CostContext& context) { return 8 * context.output_elements(0); }

constexpr OpDef kOps[] = {
    {.domain = kDomain,
     .name = "FusedConv",
     .since = 1,
     .inputs = {2, 4},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_fused_conv,
     .kernel = run_fused_conv,
     .flops = conv_flops},
    {.domain = kDomain,
     .name = "FusedGemm",
     .since = 1,
     .inputs = {2, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_fused_gemm,
     .kernel = run_fused_gemm,
     .flops = fused_matmul_flops},
    {.domain = kDomain,
     .name = "FusedMatMul",
     .since = 1,
     .inputs = {2, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_fused_matmul,
     .kernel = run_fused_matmul,
     .flops = fused_matmul_flops},
    {.domain = kDomain,
     .name = "FusedMatMulActivation",
     .since = 1,
     .inputs = {2, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_fused_matmul,
     .kernel = run_fused_matmul,
     .flops = fused_matmul_flops},
    {.domain = kDomain,
     .name = "TransposeMatMul",
     .since = 1,
     .inputs = {2, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_fused_matmul,
     .kernel = run_fused_matmul,
     .flops = fused_matmul_flops},
    {.domain = kDomain,
     .name = "Gelu",
     .since = 1,
     .inputs = {1, 1},
     .outputs = {1, 1},
     .layout_class = LayoutClass::irrelevant,
     .infer = infer_biased,
     .kernel = run_gelu,
     .flops = gelu_flops},
    {.domain = kDomain,
     .name = "BiasGelu",
     .since = 1,
     .inputs = {2, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_biased,
     .kernel = run_gelu,
     .flops = gelu_flops},
    {.domain = kDomain,
     .name = "FastGelu",
     .since = 1,
     .inputs = {1, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_biased,
     .kernel = run_fast_gelu,
     .flops = gelu_flops},
    {.domain = kDomain,
     .name = "QuickGelu",
     .since = 1,
     .inputs = {1, 1},
     .outputs = {1, 1},
     .layout_class = LayoutClass::irrelevant,
     .infer = infer_biased,
     .kernel = run_quick_gelu,
     .flops = gelu_flops},
    {.domain = kDomain,
     .name = "BiasAdd",
     .since = 1,
     .inputs = {3, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_bias_add,
     .kernel = run_bias_add,
     .flops = elementwise_flops},
};

}  // namespace

std::span<const OpDef> contrib_math_ops() { return kOps; }

}  // namespace attune
