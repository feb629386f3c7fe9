#include "base/float_types.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace attune {
namespace float_detail {

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu;
  const uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // subnormal or zero, exact in float
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu));
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);  // rounds to 65536 or above
  if (magnitude < 0x38800000u) {  // below the smallest normal: let the adder round to a multiple of 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;  // ulp of [0.5, 1) is 2^-24
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000u));
  }
  const uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
}

float bfloat16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);  // quiet NaN
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace float_detail

namespace {

/// A small binary format: sign, exponent and mantissa fields, and which codes are special.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;  // IEEE style: the top exponent is infinity and NaN
  bool has_nan;
  bool negative_zero_nan;  // "uz" formats: the code of -0 is the only NaN
  float largest;
};

constexpr Format kE4m3fn{4, 3, 7, false, true, false, 448.0f};
constexpr Format kE4m3fnuz{4, 3, 8, false, true, true, 240.0f};
constexpr Format kE5m2{5, 2, 15, true, true, false, 57344.0f};
constexpr Format kE5m2fnuz{5, 2, 16, false, true, true, 57344.0f};
constexpr Format kE2m1{2, 1, 1, false, false, false, 6.0f};

float decode(uint8_t bits, const Format& format) {
  const int total = format.exponent_bits + format.mantissa_bits;
  const uint32_t sign_bit = (bits >> total) & 1u;
  const uint32_t code = bits & ((1u << total) - 1u);
  const uint32_t exponent = code >> format.mantissa_bits;
  const uint32_t mantissa = code & ((1u << format.mantissa_bits) - 1u);
  const uint32_t top = (1u << format.exponent_bits) - 1u;
  if (format.negative_zero_nan && sign_bit && code == 0) return std::numeric_limits<float>::quiet_NaN();
  if (format.has_infinity && exponent == top)
    return mantissa ? std::numeric_limits<float>::quiet_NaN()
                    : (sign_bit ? -1.0f : 1.0f) * std::numeric_limits<float>::infinity();
  if (format.has_nan && !format.negative_zero_nan && !format.has_infinity && code == (1u << total) - 1u)
    return std::numeric_limits<float>::quiet_NaN();
  const float fraction = static_cast<float>(mantissa) / static_cast<float>(1u << format.mantissa_bits);
  const float magnitude = exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                                        : std::ldexp(1.0f + fraction, static_cast<int>(exponent) - format.bias);
  return sign_bit ? -magnitude : magnitude;
}

uint8_t encode(float value, const Format& format, Overflow overflow) {
  const int total = format.exponent_bits + format.mantissa_bits;
  const uint32_t sign = std::signbit(value) ? 1u << total : 0u;
  const uint32_t all_ones = (1u << total) - 1u;
  const auto nan_code = static_cast<uint8_t>(format.negative_zero_nan ? 1u << total : (sign | all_ones));
  if (std::isnan(value)) return format.has_infinity ? static_cast<uint8_t>(sign | (all_ones - 1u) | 2u) | 1u : nan_code;

  const float magnitude = std::fabs(value);
  // Round to nearest even at the format's own precision.
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = f * 2^exponent, f in [0.5, 1)
  const int unit = std::max(exponent - 1, 1 - format.bias) - format.mantissa_bits;
  const float rounded = magnitude == 0 || std::isinf(magnitude)
                            ? magnitude
                            : std::ldexp(std::nearbyint(std::ldexp(magnitude, -unit)), unit);
  if (rounded > format.largest) {
    if (overflow == Overflow::saturate || !format.has_nan) {
      for (uint32_t code = all_ones;; --code)  // the largest finite code
        if (decode(static_cast<uint8_t>(code), format) == format.largest) return static_cast<uint8_t>(sign | code);
    }
    if (format.has_infinity)
      return static_cast<uint8_t>(sign | (((1u << format.exponent_bits) - 1u) << format.mantissa_bits));
    return nan_code;
  }
  if (rounded == 0) return format.negative_zero_nan ? 0 : static_cast<uint8_t>(sign);
  std::frexp(rounded, &exponent);
  const int biased = exponent - 1 + format.bias;
  const float scale = static_cast<float>(1u << format.mantissa_bits);
  const uint32_t code = biased <= 0 ? static_cast<uint32_t>(std::ldexp(rounded, format.bias - 1) * scale)
                                    : (static_cast<uint32_t>(biased) << format.mantissa_bits) |
                                          static_cast<uint32_t>((std::ldexp(rounded, 1 - exponent) - 1.0f) * scale);
  return static_cast<uint8_t>(sign | code);
}

}  // namespace

float f8e4m3fn_to_float(uint8_t bits) { return decode(bits, kE4m3fn); }
float f8e4m3fnuz_to_float(uint8_t bits) { return decode(bits, kE4m3fnuz); }
float f8e5m2_to_float(uint8_t bits) { return decode(bits, kE5m2); }
float f8e5m2fnuz_to_float(uint8_t bits) { return decode(bits, kE5m2fnuz); }
float f4e2m1_to_float(uint8_t bits) { return decode(bits & 0xFu, kE2m1); }
float f8e8m0_to_float(uint8_t bits) {
  return bits == 0xFF ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, static_cast<int>(bits) - 127);
}

uint8_t float_to_f8e4m3fn(float value, Overflow overflow) { return encode(value, kE4m3fn, overflow); }
uint8_t float_to_f8e4m3fnuz(float value, Overflow overflow) { return encode(value, kE4m3fnuz, overflow); }
uint8_t float_to_f8e5m2(float value, Overflow overflow) { return encode(value, kE5m2, overflow); }
uint8_t float_to_f8e5m2fnuz(float value, Overflow overflow) { return encode(value, kE5m2fnuz, overflow); }
uint8_t float_to_f4e2m1(float value) {
  if (std::isnan(value)) return 0x8;  // the format has no NaN; the common converters give negative zero
  return encode(value, kE2m1, Overflow::saturate);
}

uint8_t float_to_f8e8m0(float value, Overflow overflow, E8m0Rounding rounding) {
  if (std::isnan(value)) return 0xFF;
  const float magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return overflow == Overflow::saturate ? 0xFE : 0xFF;
  if (magnitude == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(magnitude, &exponent);  // fraction in [0.5, 1)
  --exponent;                                               // magnitude = 2f * 2^exponent
  const bool above_power = fraction != 0.5f;
  if ((rounding == E8m0Rounding::up && above_power) || (rounding == E8m0Rounding::nearest && fraction >= 0.75f))
    ++exponent;
  if (exponent > 127) return overflow == Overflow::saturate ? 0xFE : 0xFF;
  return static_cast<uint8_t>(std::clamp(exponent + 127, 0, 254));
}

}  // namespace attune
