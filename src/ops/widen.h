// Narrow floats in and out of the type they are computed in: kernels that read an operand many times widen it once.
#pragma once

#include "ops/convert.h"
#include "ops/dispatch.h"

#include <cstring>

namespace attune {

/// `tensor` as f32 or f64 (C): shares the storage when it has that type already, else a converted copy. Refuses what is
/// not f32, f64, f16 or bf16.
template <class C> Tensor widened(const Tensor& tensor, const OpContext& context) {
  dispatch<FloatTypes>(tensor.dtype(), context, []<class T>() {});
  return convert(tensor, dtype_of<C>());
}

/// Writes values of equal count to `dst`, rounded once to its type.
inline void store_rounded(const Tensor& values, Tensor& dst) {
  const Tensor rounded = convert(values, dst.dtype());
  std::memcpy(dst.mutable_bytes(), rounded.bytes(), static_cast<size_t>(dst.size_bytes()));
}

/// A place to compute the values of `dst` in C: its own storage when it has that type, else a buffer that store()
/// rounds into it.
template <class C> class RoundedOutput {
 public:
  explicit RoundedOutput(Tensor& dst)
      : dst_(dst), values_(dst.dtype() == dtype_of<C>() ? dst : Tensor::allocate(dtype_of<C>(), dst.dims())) {}
  C* data() { return values_.template mutable_data<C>(); }
  void store() {
    if (dst_.dtype() != dtype_of<C>()) store_rounded(values_, dst_);
  }

 private:
  Tensor& dst_;
  Tensor values_;
};

/// Calls f<float>() or f<double>(): the type in which tensors of `dtype` are computed.
template <class F> void dispatch_compute(DType dtype, const OpContext& context, F&& f) {
  dispatch<FloatTypes>(dtype, context, [&]<class T>() { f.template operator()<compute_t<T>>(); });
}

}  // namespace attune
