// Matrix products, convolutions and activations that ONNX Runtime fuses (domain com.microsoft).
#pragma once

#include "ops/op.h"

namespace attune::contrib {

inline constexpr std::string_view kDomain = "com.microsoft";

/// Applies the function that attribute `activation` names to `values` in place; nothing without one. Its parameters are
/// the list activation_params or the numbers activation_alpha and activation_beta.
void apply_fused_activation(const OpContext& context, Tensor& values);

void infer_fused_conv(InferContext& context);
void run_fused_conv(KernelContext& context);

void infer_fused_gemm(InferContext& context);
void run_fused_gemm(KernelContext& context);

void infer_fused_matmul(InferContext& context);
void run_fused_matmul(KernelContext& context);
double fused_matmul_flops(const CostContext& context);

/// Activations with an optional bias over the last axis.
void infer_biased(InferContext& context);
void run_gelu(KernelContext& context);       // exact; Gelu and BiasGelu
void run_fast_gelu(KernelContext& context);  // by tanh
void run_quick_gelu(KernelContext& context);
void infer_bias_add(InferContext& context);
void run_bias_add(KernelContext& context);

}  // namespace attune::contrib
