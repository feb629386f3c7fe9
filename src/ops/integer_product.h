// Products of 8-bit matrices: operands are widened to i16 with their zero points taken off, sums are 32-bit and wrap.
#pragma once

#include "ops/context.h"

#include <span>

namespace attune {

/// dst = a * b for row-major a (m x k) and b (k x n).
void integer_product(int64_t m, int64_t n, int64_t k, const int16_t* a, const int16_t* b, int32_t* dst);

/// Which parameter (scale or zero point) belongs to an element of a stack of matrices: by row of a left operand, by
/// column of a right one, or the same for all.
enum class Lines : uint8_t { rows, columns };
struct LineParameters {
  int64_t matrix_step = 0;
  int64_t line_step = 0;
  int64_t index(int64_t matrix, int64_t line) const { return matrix * matrix_step + line * line_step; }
};
/// Fails, naming the node, unless `parameter` is one element, one for each line, or one for each line of each matrix.
LineParameters line_parameters(const OpContext& context, const Dims& operand, const Dims& parameter, Lines lines);

/// An i8 or u8 stack of matrices as i16 with the zero points of its lines taken off. `zero` may be nullptr.
Tensor centered_matrices(const OpContext& context, const Tensor& operand, const Tensor* zero, Lines lines);

/// Fails unless input i is i8 or u8 (or not inferred yet).
void require_byte(const InferContext& context, int input);
/// Fails unless the input, when given, holds a single element as far as its shape is known.
void require_single(const InferContext& context, int input, std::string_view name);

/// From 32-bit sums to i8 or u8: saturate(round(sum * scale) + zero).
struct Requantize {
  float scale = 1.0f;
  float zero = 0.0f;
  float low = 0.0f, high = 255.0f;
};
/// To the range of i8 or u8, with scale 1.
Requantize requantize_to(DType dtype, float zero);
/// To the nearest whole number, halves to even, for magnitudes below 2^22: beyond 2^23 a float has no room for a
/// fraction, so the addition rounds. Without a call, so that loops become vector code on any machine.
inline float round_small(float value) {
  constexpr float kNoRoom = 12582912.0f;  // 1.5 * 2^23, so that negative values stay inside the same binade
  return value + kNoRoom - kNoRoom;
}
/// One value, already scaled; the bits of an i8 when the range is signed. A NaN becomes the lowest value.
inline uint8_t quantized_byte(float scaled, const Requantize& to) {
  constexpr float kFar = 4096.0f;  // clips to either end whatever the zero point
  const float raised = scaled > -kFar ? scaled : -kFar;
  const float value = round_small(raised < kFar ? raised : kFar) + to.zero;
  const float clipped = value > to.low ? value : to.low;
  return static_cast<uint8_t>(static_cast<int>(clipped < to.high ? clipped : to.high));
}

}  // namespace attune
