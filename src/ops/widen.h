// Narrow floats in and out of the type they are computed in: kernels that read an operand many times widen it once.
#pragma once

#include "graph/tensor.h"
#include "ops/dispatch.h"

namespace attune {

/// `tensor` as f32 or f64 (C): shares the storage when it has that type already, else a converted copy. Only f32, f64,
/// f16 and bf16 can be widened.
template <class C> Tensor widened(const Tensor& tensor, const OpContext& context);

/// Writes dst.count() values to a tensor of any of those types, rounded once.
template <class C> void store_rounded(const C* values, Tensor& dst, const OpContext& context);

/// Calls f<float>() or f<double>(): the type in which tensors of `dtype` are computed.
template <class F> void dispatch_compute(DType dtype, const OpContext& context, F&& f) {
  dispatch<FloatTypes>(dtype, context, [&]<class T>() { f.template operator()<compute_t<T>>(); });
}

}  // namespace attune
