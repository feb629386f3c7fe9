// Narrow floating-point element types: storage with conversion to and from float. Arithmetic is done in float or
// double.
#pragma once

#include <cstdint>

namespace attune {

enum class Overflow { saturate, to_special };  // what a value beyond the largest finite one becomes in fp8

namespace float_detail {
float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_bfloat16(float value);
}  // namespace float_detail

struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(float_detail::float_to_half(value)) {}
  explicit operator float() const { return float_detail::half_to_float(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(float_detail::float_to_bfloat16(value)) {}
  explicit operator float() const { return float_detail::bfloat16_to_float(bits); }
};

// The 8-bit and 4-bit formats of ONNX. Conversions round to nearest even.
float f8e4m3fn_to_float(uint8_t bits);
float f8e4m3fnuz_to_float(uint8_t bits);
float f8e5m2_to_float(uint8_t bits);
float f8e5m2fnuz_to_float(uint8_t bits);
float f8e8m0_to_float(uint8_t bits);
float f4e2m1_to_float(uint8_t bits);  // low four bits
uint8_t float_to_f8e4m3fn(float value, Overflow overflow);
uint8_t float_to_f8e4m3fnuz(float value, Overflow overflow);
uint8_t float_to_f8e5m2(float value, Overflow overflow);
uint8_t float_to_f8e5m2fnuz(float value, Overflow overflow);
uint8_t float_to_f4e2m1(float value);  // always saturates
enum class E8m0Rounding { up, down, nearest };
uint8_t float_to_f8e8m0(float value, Overflow overflow, E8m0Rounding rounding);

}  // namespace attune
