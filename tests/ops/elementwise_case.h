// Tensors of other element types for the tests of elementwise and quantized operators.
#pragma once

#include "ops/op_case.h"

namespace attune::test {

template <class T> Tensor tensor_of(Dims dims, std::initializer_list<T> values) {
  return Tensor::from<T>(std::move(dims), std::span<const T>(values.begin(), values.size()));
}
inline Tensor bools(Dims dims, std::initializer_list<bool> values) { return tensor_of<bool>(std::move(dims), values); }
inline Tensor u8(Dims dims, std::initializer_list<uint8_t> values) {
  return tensor_of<uint8_t>(std::move(dims), values);
}
inline Tensor i8(Dims dims, std::initializer_list<int8_t> values) { return tensor_of<int8_t>(std::move(dims), values); }
inline Tensor i32(Dims dims, std::initializer_list<int32_t> values) {
  return tensor_of<int32_t>(std::move(dims), values);
}

}  // namespace attune::test
