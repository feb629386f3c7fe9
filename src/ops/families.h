// The lists of operators, one for each family file. registry.cc joins them; nothing registers itself.
#pragma once

#include "ops/op.h"

namespace attune {

std::span<const OpDef> unary_ops();
std::span<const OpDef> activation_ops();
std::span<const OpDef> binary_ops();
std::span<const OpDef> variadic_ops();
std::span<const OpDef> cast_ops();
std::span<const OpDef> quantize_ops();
std::span<const OpDef> quantized_compute_ops();
std::span<const OpDef> contrib_quantized_ops();
std::span<const OpDef> view_ops();
std::span<const OpDef> movement_ops();
std::span<const OpDef> gather_ops();
std::span<const OpDef> scatter_ops();
std::span<const OpDef> select_ops();
std::span<const OpDef> generate_ops();
std::span<const OpDef> random_ops();
std::span<const OpDef> cumulative_ops();
std::span<const OpDef> text_ops();
std::span<const OpDef> matmul_ops();
std::span<const OpDef> einsum_ops();
std::span<const OpDef> conv_ops();
std::span<const OpDef> conv_transpose_ops();
std::span<const OpDef> conv_special_ops();
std::span<const OpDef> pool_ops();
std::span<const OpDef> region_ops();
std::span<const OpDef> resize_ops();
std::span<const OpDef> sample_ops();
std::span<const OpDef> lrn_ops();
std::span<const OpDef> image_ops();
std::span<const OpDef> reduce_ops();
std::span<const OpDef> softmax_ops();
std::span<const OpDef> normalization_ops();
std::span<const OpDef> loss_ops();
std::span<const OpDef> signal_ops();
std::span<const OpDef> linalg_ops();
std::span<const OpDef> ml_ops();
std::span<const OpDef> recurrent_ops();
std::span<const OpDef> attention_ops();
std::span<const OpDef> control_flow_ops();
std::span<const OpDef> contrib_math_ops();
std::span<const OpDef> contrib_recurrent_ops();
std::span<const OpDef> contrib_transformer_ops();
std::span<const OpDef> channel_shuffle_ops();
std::span<const OpDef> fused_ops();
std::span<const OpDef> fused_attention_ops();
std::span<const OpDef> fused_separable_ops();
std::span<const OpDef> shuffled_conv_ops();
std::span<const OpDef> squeeze_excite_ops();
std::span<const OpDef> fused_vector_ops();

}  // namespace attune
