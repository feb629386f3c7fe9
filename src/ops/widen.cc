#include "ops/widen.h"

#include "base/parallel.h"

#include <cstring>

namespace attune {
namespace {

constexpr int64_t kGrain = 16 * 1024;

template <class To, class From> To convert(From value) {
  if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>)
    return To(static_cast<float>(value));
  else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>)
    return static_cast<To>(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

template <class To, class From> void convert_all(const From* src, To* dst, int64_t count) {
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dst[i] = convert<To>(src[i]);
  });
}

}  // namespace

template <class C> Tensor widened(const Tensor& tensor, const OpContext& context) {
  if (tensor.dtype() == dtype_of<C>()) return tensor;
  Tensor result = Tensor::allocate(dtype_of<C>(), tensor.dims());
  dispatch<FloatTypes>(tensor.dtype(), context,
                       [&]<class T>() { convert_all(tensor.data<T>(), result.mutable_data<C>(), tensor.count()); });
  return result;
}

template <class C> void store_rounded(const C* values, Tensor& dst, const OpContext& context) {
  dispatch<FloatTypes>(dst.dtype(), context,
                       [&]<class T>() { convert_all(values, dst.mutable_data<T>(), dst.count()); });
}

template Tensor widened<float>(const Tensor&, const OpContext&);
template Tensor widened<double>(const Tensor&, const OpContext&);
template void store_rounded<float>(const float*, Tensor&, const OpContext&);
template void store_rounded<double>(const double*, Tensor&, const OpContext&);

}  // namespace attune
