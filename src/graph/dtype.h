// Element types of tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace attune {

enum class DType : uint8_t {
  undefined,
  f64,
  f32,
  f16,
  bf16,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0,
  f4e2m1,
  i64,
  i32,
  i16,
  i8,
  i4,
  i2,
  u64,
  u32,
  u16,
  u8,
  u4,
  u2,
  boolean,
};

std::string_view dtype_name(DType dtype);  // "f32", "bool", "u4" …
std::optional<DType> parse_dtype(std::string_view name);
int bit_width(DType dtype);                                          // 0 for undefined; 8 for bool
bool is_float(DType dtype);                                          // every floating format, the narrow ones included
bool is_integer(DType dtype);                                        // bool is not one
bool is_signed(DType dtype);                                         // floats and signed integers
inline bool is_packed(DType dtype) { return bit_width(dtype) < 8; }  // several elements in a byte, low bits first

/// Bytes of `count` elements, packed types rounded up; nothing on overflow.
std::optional<int64_t> byte_size(DType dtype, int64_t count);

}  // namespace attune
