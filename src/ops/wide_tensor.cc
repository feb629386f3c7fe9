#include "ops/wide_tensor.h"

#include "base/parallel.h"

namespace attune {
namespace {

constexpr int64_t kGrain = 1 << 14;

template <class From, class To> void convert(const Tensor& from, Tensor& to) {
  const From* src = from.data<From>();
  To* dst = to.mutable_data<To>();
  parallel_for(from.count(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dst[i] = static_cast<To>(src[i]);
  });
}

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

}  // namespace

Tensor widened(const Tensor& tensor) {
  if (!is_half(tensor.dtype())) return tensor;
  Tensor wide = Tensor::allocate(DType::f32, tensor.dims());
  if (tensor.dtype() == DType::f16)
    convert<Half, float>(tensor, wide);
  else
    convert<BFloat16, float>(tensor, wide);
  return wide;
}

Tensor wide_output(Tensor& output) {
  return is_half(output.dtype()) ? Tensor::allocate(DType::f32, output.dims()) : output;
}

void narrow(const Tensor& wide, Tensor& output) {
  if (output.dtype() == DType::f16)
    convert<float, Half>(wide, output);
  else if (output.dtype() == DType::bf16)
    convert<float, BFloat16>(wide, output);
}

}  // namespace attune
