// Linear quantization, shared by ai.onnx and com.microsoft.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_quantize_linear(InferContext& context);
void quantize_linear_kernel(KernelContext& context);
void infer_dequantize_linear(InferContext& context);
void dequantize_linear_kernel(KernelContext& context);
void infer_dynamic_quantize_linear(InferContext& context);
void dynamic_quantize_linear_kernel(KernelContext& context);

/// Scale and zero point that map the range of `values`, widened to hold 0, onto u8.
struct DynamicRange {
  float scale = 1.0f;
  uint8_t zero_point = 0;
};
DynamicRange dynamic_range(std::span<const float> values);
/// dst[i] = saturate(round(src[i] / scale) + zero_point).
void quantize_to_u8(std::span<const float> src, const DynamicRange& range, uint8_t* dst);

}  // namespace attune
