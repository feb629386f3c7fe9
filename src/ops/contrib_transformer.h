// Transformer operators of ONNX Runtime (domain com.microsoft), one pair of functions each, and what they share.
#pragma once

#include "ops/attention.h"
#include "ops/contrib_math.h"

namespace attune::contrib {

void infer_simplified_layer_norm(InferContext& context);
void run_simplified_layer_norm(KernelContext& context);
void infer_skip_norm(InferContext& context);
void run_skip_layer_norm(KernelContext& context);
void run_skip_simplified_layer_norm(KernelContext& context);
void infer_embed_layer_norm(InferContext& context);
void run_embed_layer_norm(KernelContext& context);

void infer_packed_attention(InferContext& context);  // Attention
void run_packed_attention(KernelContext& context);
double packed_attention_flops(const CostContext& context);

void infer_multi_head_attention(InferContext& context);
void run_multi_head_attention(KernelContext& context);

void infer_group_query_attention(InferContext& context);
void run_group_query_attention(KernelContext& context);

void infer_rotary(InferContext& context);  // RotaryEmbedding
void run_rotary(KernelContext& context);

void infer_matmul_nbits(InferContext& context);
void run_matmul_nbits(KernelContext& context);
double matmul_nbits_flops(const CostContext& context);

/// A dim of an input whose rank must be `rank`; unknown when the shape is.
Dim dim_of(const InferContext& context, int i, size_t rank, size_t axis, std::string_view what);

/// The padding mask of input `mask_slot` and the bias of input `bias_slot`, each optional, as one tensor of C that
/// broadcasts to [batch, heads, queries, keys]; empty without either. A padding mask holds 0 or 1 by key ([batch, keys]
/// or [batch, queries, keys]), or the end ([batch]) and start ([2 * batch]) of the keys that are real; a masked key
/// gets `filter` added.
template <class C>
Tensor combined_bias(const KernelContext& context, int mask_slot, int bias_slot, const attention::Sizes& sizes);

/// Keys or values of a cache [batch, heads, past, size] followed by new ones, as [batch, heads, past + rows, size].
template <class C> Tensor joined(const Tensor& past, const attention::HeadsView<const C>& current, int64_t batch,
                                 int64_t heads, int64_t rows, int64_t size);

/// Attribute scale, or 1/sqrt(head_size) when it is missing or zero.
double scale_of(const OpContext& context, int64_t head_size);

}  // namespace attune::contrib
