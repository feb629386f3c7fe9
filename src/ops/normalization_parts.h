// The parts of the normalization family, one file for each group of operators, and what they share.
#pragma once

#include "ops/convert.h"
#include "ops/op.h"

namespace attune {

inline constexpr int64_t kNormGrain = 1 << 14;  // elements that are worth a thread

/// Output 0 has the type of input 0, whose rank is at least `least_rank`.
void infer_like_input(InferContext& context, int64_t least_rank);
/// Fails unless input i is a vector of `count` elements.
void require_vector(const KernelContext& context, int i, int64_t count);
double norm_flops(const CostContext& context);

/// The elements in the type that C is, converted once.
template <class C> std::vector<C> values_as(const Tensor& tensor) {
  const Tensor converted = convert(tensor, dtype_of<C>());
  return {converted.data<C>(), converted.data<C>() + converted.count()};
}

void infer_batch_normalization(InferContext& context);
void run_batch_normalization(KernelContext& context);

void infer_instance_normalization(InferContext& context);
void run_instance_normalization(KernelContext& context);
void infer_group_normalization(InferContext& context);
void run_group_normalization(KernelContext& context);

void infer_layer_normalization(InferContext& context);
void run_layer_normalization(KernelContext& context);
void infer_rms_normalization(InferContext& context);
void run_rms_normalization(KernelContext& context);

void infer_lp_normalization(InferContext& context);
void run_lp_normalization(KernelContext& context);
void infer_mean_variance_normalization(InferContext& context);
void run_mean_variance_normalization(KernelContext& context);

}  // namespace attune
