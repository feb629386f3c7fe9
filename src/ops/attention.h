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

/// A tensor of rank 1 to 4 as a bias that broadcasts to [batch, heads, queries, keys]; its last dim is not broadcast.
template <class C> Bias<C> bias_of(const Tensor& mask) {
  const Dims strides = row_major_strides(mask.dims());
  const auto stride = [&](size_t from_the_end) {
    if (from_the_end >= strides.size()) return int64_t{0};
    const size_t axis = strides.size() - 1 - from_the_end;
    return mask.dims()[axis] == 1 ? 0 : strides[axis];
  };
  return {mask.data<C>(), stride(3), stride(2), stride(1), 1, mask.dim(mask.rank() - 1)};
}

}  // namespace attune::attention
