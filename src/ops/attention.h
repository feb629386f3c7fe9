// The attention operators of ai.onnx and ai.onnx.preview, one pair of functions each.
#pragma once

#include "ops/attention_core.h"
#include "ops/op.h"

namespace attune::attention {

void infer_attention(InferContext& context);
void run_attention(KernelContext& context);
double attention_flops(const CostContext& context);

void infer_flex_attention(InferContext& context);
void run_flex_attention(KernelContext& context);

void infer_linear_attention(InferContext& context);
void run_linear_attention(KernelContext& context);
double linear_attention_flops(const CostContext& context);

void infer_rotary_embedding(InferContext& context);
void run_rotary_embedding(KernelContext& context);
double rotary_flops(const CostContext& context);

/// The quotient of a hidden size and a number of heads; fails when it is not whole.
Dim head_size_of(const Dim& hidden, int64_t heads, const OpContext& context, std::string_view what);

/// Fails unless heads of queries can be shared out evenly over those of keys.
void check_heads(int64_t q_heads, int64_t kv_heads, const OpContext& context);

/// Fails when both are numbers and differ.
void expect_equal(const Dim& a, const Dim& b, const OpContext& context, std::string_view what);

}  // namespace attune::attention
