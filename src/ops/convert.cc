#include "ops/convert.h"

#include "base/parallel.h"
#include "ops/dispatch.h"
#include "ops/packed.h"

#include <array>
#include <bit>

namespace attune {
namespace {

constexpr int64_t kGrain = 16'384;

/// double to float so that a further rounding to a narrower format gives the same as rounding once: an inexact result
/// gets an odd last bit ("round to odd").
float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest) || std::isnan(value)) return nearest;
  const auto bits = std::bit_cast<uint32_t>(nearest);
  if (bits & 1u) return nearest;
  const bool rounded_away = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>(rounded_away ? bits - 1u : bits + 1u);
}

template <class T> constexpr bool is_short_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class To, class From> To convert_element(From value) {
  if constexpr (is_short_float<From>)
    return convert_element<To>(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, bool>)
    return value != From{0};
  else if constexpr (is_short_float<To> && std::is_same_v<From, double>)
    return To(round_to_odd(value));
  else if constexpr (is_short_float<To>)
    return To(static_cast<float>(value));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return to_integer<To>(value);
  else
    return static_cast<To>(value);
}

/// Bytes of a bool tensor from outside may hold anything; reading them as bool would be undefined.
template <class T> T load(const std::byte* src, int64_t i) {
  if constexpr (std::is_same_v<T, bool>)
    return reinterpret_cast<const uint8_t*>(src)[i] != 0;
  else
    return reinterpret_cast<const T*>(src)[i];
}

using Converter = void (*)(const std::byte* src, std::byte* dst, int64_t begin, int64_t end);

template <class From, class To> void convert_range(const std::byte* src, std::byte* dst, int64_t begin, int64_t end) {
  auto* out = reinterpret_cast<To*>(dst);
  for (int64_t i = begin; i < end; ++i) out[i] = convert_element<To>(load<From>(src, i));
}

template <class F> void with_plain_type(DType dtype, F&& f) {
  if (!dispatch_detail::try_types(dtype, PlainTypes{}, f))
    throw InternalError("{} is not a plain element type", dtype_name(dtype));
}

Converter plain_converter(DType from, DType to) {
  Converter found = nullptr;
  with_plain_type(from,
                  [&]<class From>() { with_plain_type(to, [&]<class To>() { found = &convert_range<From, To>; }); });
  return found;
}

Tensor convert_plain(const Tensor& tensor, DType to) {
  if (tensor.dtype() == to) return tensor;
  const Converter converter = plain_converter(tensor.dtype(), to);
  Tensor result = Tensor::allocate(to, tensor.dims());
  const std::byte* src = tensor.bytes();
  std::byte* dst = result.mutable_bytes();
  parallel_for(tensor.count(), kGrain, [&](int64_t begin, int64_t end) { converter(src, dst, begin, end); });
  return result;
}

bool is_narrow_float(DType dtype) { return is_float(dtype) && bit_width(dtype) <= 8; }

float decode(uint8_t code, DType dtype) {
  switch (dtype) {
    case DType::f8e4m3fn: return f8e4m3fn_to_float(code);
    case DType::f8e4m3fnuz: return f8e4m3fnuz_to_float(code);
    case DType::f8e5m2: return f8e5m2_to_float(code);
    case DType::f8e5m2fnuz: return f8e5m2fnuz_to_float(code);
    case DType::f8e8m0: return f8e8m0_to_float(code);
    default: return f4e2m1_to_float(code);
  }
}

uint8_t encode(float value, DType dtype, const ConvertOptions& options) {
  switch (dtype) {
    case DType::f8e4m3fn: return float_to_f8e4m3fn(value, options.overflow);
    case DType::f8e4m3fnuz: return float_to_f8e4m3fnuz(value, options.overflow);
    case DType::f8e5m2: return float_to_f8e5m2(value, options.overflow);
    case DType::f8e5m2fnuz: return float_to_f8e5m2fnuz(value, options.overflow);
    case DType::f8e8m0: return float_to_f8e8m0(value, options.overflow, options.e8m0_rounding);
    default: return float_to_f4e2m1(value);
  }
}

/// The f32 values of codes that lie one in each byte.
Tensor decode_codes(const Tensor& codes, DType dtype) {
  std::array<float, 256> values{};
  for (size_t code = 0; code < values.size(); ++code) values[code] = decode(static_cast<uint8_t>(code), dtype);
  Tensor result = Tensor::allocate(DType::f32, codes.dims());
  const auto* src = reinterpret_cast<const uint8_t*>(codes.bytes());
  float* dst = result.mutable_data<float>();
  parallel_for(codes.count(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dst[i] = values[src[i]];
  });
  return result;
}

Tensor encode_floats(const Tensor& floats, DType dtype, const ConvertOptions& options) {
  Tensor codes = Tensor::allocate(is_packed(dtype) ? DType::u8 : dtype, floats.dims());
  const float* src = floats.data<float>();
  uint8_t* dst = codes.mutable_data<uint8_t>();
  parallel_for(floats.count(), kGrain / 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dst[i] = encode(src[i], dtype, options);
  });
  return is_packed(dtype) ? pack_bytes(codes, dtype) : codes;
}

Tensor floats_rounded_to_odd(const Tensor& doubles) {
  Tensor result = Tensor::allocate(DType::f32, doubles.dims());
  const double* src = doubles.data<double>();
  float* dst = result.mutable_data<float>();
  for (int64_t i = 0; i < doubles.count(); ++i) dst[i] = round_to_odd(src[i]);
  return result;
}

}  // namespace

Tensor convert(const Tensor& tensor, DType to, const ConvertOptions& options) {
  if (tensor.dtype() == to) return tensor;
  Tensor plain = unpack_bytes(tensor);
  if (is_narrow_float(tensor.dtype())) plain = decode_codes(plain, tensor.dtype());

  if (is_narrow_float(to)) {
    const Tensor floats = plain.dtype() == DType::f64 ? floats_rounded_to_odd(plain) : convert_plain(plain, DType::f32);
    return encode_floats(floats, to, options);
  }
  if (is_packed(to)) return pack_bytes(convert_plain(plain, is_signed(to) ? DType::i8 : DType::u8), to);
  return convert_plain(plain, to);
}

namespace {

/// The byte of a packed tensor, shifted and sign-extended, or the byte of an 8-bit one.
uint8_t code_at(const Tensor& tensor, int64_t index) {
  const auto* src = reinterpret_cast<const uint8_t*>(tensor.bytes());
  const int bits = bit_width(tensor.dtype());
  const int per_byte = 8 / bits;
  const unsigned code = static_cast<unsigned>(src[index / per_byte]) >> (static_cast<int>(index % per_byte) * bits);
  return static_cast<uint8_t>(code & ((1u << bits) - 1u));
}

template <class To> To element_as(const Tensor& tensor, int64_t index) {
  const DType dtype = tensor.dtype();
  if (is_narrow_float(dtype)) return convert_element<To>(decode(code_at(tensor, index), dtype));
  if (is_packed(dtype)) {
    const int value = code_at(tensor, index);
    const int sign = is_signed(dtype) ? 1 << (bit_width(dtype) - 1) : 0;
    return static_cast<To>((value ^ sign) - sign);
  }
  To result{};
  with_plain_type(dtype, [&]<class From>() { result = convert_element<To>(load<From>(tensor.bytes(), index)); });
  return result;
}

}  // namespace

double element_as_double(const Tensor& tensor, int64_t index) { return element_as<double>(tensor, index); }
int64_t element_as_int(const Tensor& tensor, int64_t index) { return element_as<int64_t>(tensor, index); }

DType dtype_from_onnx(int64_t number, const OpContext& context) {
  switch (number) {
    case 1: return DType::f32;
    case 2: return DType::u8;
    case 3: return DType::i8;
    case 4: return DType::u16;
    case 5: return DType::i16;
    case 6: return DType::i32;
    case 7: return DType::i64;
    case 9: return DType::boolean;
    case 10: return DType::f16;
    case 11: return DType::f64;
    case 12: return DType::u32;
    case 13: return DType::u64;
    case 16: return DType::bf16;
    case 17: return DType::f8e4m3fn;
    case 18: return DType::f8e4m3fnuz;
    case 19: return DType::f8e5m2;
    case 20: return DType::f8e5m2fnuz;
    case 21: return DType::u4;
    case 22: return DType::i4;
    case 23: return DType::f4e2m1;
    case 24: return DType::f8e8m0;
    case 25: return DType::u2;
    case 26: return DType::i2;
    case 8: context.unsupported("tensors of strings are not supported");
    case 14:
    case 15: context.unsupported("tensors of complex numbers are not supported");
    case 27:
    case 28: context.unsupported("tensors of 6-bit floats are not supported");
    default: context.fail("{} is not a number of an ONNX data type", number);
  }
}

}  // namespace attune
