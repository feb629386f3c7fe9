#include "ops/movable.h"

#include <cstring>

namespace attune {

Tensor movable(const Tensor& tensor) {
  if (!is_packed(tensor.dtype())) return tensor;
  const int bits = bit_width(tensor.dtype());
  const int per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  Tensor elements = Tensor::allocate(DType::u8, tensor.dims());
  const uint8_t* src = tensor.data<uint8_t>();
  uint8_t* dst = elements.mutable_data<uint8_t>();
  for (int64_t i = 0; i < tensor.count(); ++i)
    dst[i] = static_cast<uint8_t>(src[i / per_byte] >> (i % per_byte * bits) & mask);
  return elements;
}

void pack_elements(const Tensor& elements, Tensor& packed) {
  const int bits = bit_width(packed.dtype());
  const int per_byte = 8 / bits;
  const uint8_t* src = elements.data<uint8_t>();
  uint8_t* dst = packed.mutable_data<uint8_t>();
  std::memset(dst, 0, static_cast<size_t>(packed.size_bytes()));
  for (int64_t i = 0; i < packed.count(); ++i)
    dst[i / per_byte] = static_cast<uint8_t>(dst[i / per_byte] | src[i] << (i % per_byte * bits));
}

}  // namespace attune
