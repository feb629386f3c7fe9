// From a run-time dtype to a C++ element type: dispatch<FloatTypes>(dtype, context, [&]<class T>() { … }).
#pragma once

#include "ops/context.h"

namespace attune {

template <class... Ts> struct TypeList {};

using FloatTypes = TypeList<float, double, Half, BFloat16>;
using IntTypes = TypeList<int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>;
using NumericTypes =
    TypeList<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>;
using PlainTypes = TypeList<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t,
                            uint16_t, uint8_t, bool>;

/// Half and BFloat16 compute in float; every other type in itself.
template <class T> struct ComputeType { using type = T; };
template <> struct ComputeType<Half> { using type = float; };
template <> struct ComputeType<BFloat16> { using type = float; };
template <class T> using compute_t = typename ComputeType<T>::type;

namespace dispatch_detail {
template <class F, class... Ts> bool try_types(DType dtype, TypeList<Ts...>, F&& f) {
  return ((dtype == dtype_of<Ts>() && (f.template operator()<Ts>(), true)) || ...);
}
}  // namespace dispatch_detail

/// Calls f<T>() for the type of the list that `dtype` names; an unsupported error naming the node otherwise.
template <class List, class F> void dispatch(DType dtype, const OpContext& context, F&& f) {
  if (!dispatch_detail::try_types(dtype, List{}, f))
    context.unsupported("dtype {} is not supported here", dtype_name(dtype));
}

/// Calls f<U>() with the unsigned integer whose size is that of one element, for kernels that only move data; packed
/// types (below 8 bits) are refused.
template <class F> void dispatch_by_size(DType dtype, const OpContext& context, F&& f) {
  switch (bit_width(dtype)) {
    case 8: f.template operator()<uint8_t>(); return;
    case 16: f.template operator()<uint16_t>(); return;
    case 32: f.template operator()<uint32_t>(); return;
    case 64: f.template operator()<uint64_t>(); return;
    default: context.unsupported("dtype {} cannot be moved element by element", dtype_name(dtype));
  }
}

}  // namespace attune
