#include "ops/packed.h"

namespace attune {

Tensor unpack_bytes(const Tensor& tensor) {
  if (!is_packed(tensor.dtype())) return tensor;
  const int bits = bit_width(tensor.dtype());
  const int per_byte = 8 / bits;
  const bool extend_sign = is_integer(tensor.dtype()) && is_signed(tensor.dtype());
  const auto mask = static_cast<uint8_t>((1u << bits) - 1u);
  const auto sign = static_cast<uint8_t>(extend_sign ? 1u << (bits - 1) : 0u);

  Tensor result = Tensor::allocate(extend_sign ? DType::i8 : DType::u8, tensor.dims());
  const auto* src = reinterpret_cast<const uint8_t*>(tensor.bytes());
  uint8_t* dst = result.mutable_data<uint8_t>();
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const int shift = static_cast<int>(i % per_byte) * bits;
    const unsigned code = (static_cast<unsigned>(src[i / per_byte]) >> shift) & mask;
    dst[i] = static_cast<uint8_t>((code ^ sign) - sign);  // sign extension without a branch
  }
  return result;
}

Tensor pack_bytes(const Tensor& bytes, DType dtype) {
  if (!is_packed(dtype) || bit_width(bytes.dtype()) != 8)
    throw InternalError("packing {} into {}", dtype_name(bytes.dtype()), dtype_name(dtype));
  const int bits = bit_width(dtype);
  const int per_byte = 8 / bits;
  const auto mask = static_cast<uint8_t>((1u << bits) - 1u);

  Tensor result = Tensor::zeros(dtype, bytes.dims());
  const uint8_t* src = bytes.data<uint8_t>();
  auto* dst = reinterpret_cast<uint8_t*>(result.mutable_bytes());
  for (int64_t i = 0; i < bytes.count(); ++i) {
    const int shift = static_cast<int>(i % per_byte) * bits;
    dst[i / per_byte] = static_cast<uint8_t>(dst[i / per_byte] | ((src[i] & mask) << shift));
  }
  return result;
}

}  // namespace attune
