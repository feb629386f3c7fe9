// Integer arithmetic that never traps: overflow wraps as in two's complement, division by zero gives zero.
#pragma once

#include <concepts>
#include <type_traits>

namespace attune {

/// At least as wide as unsigned int, so that no operand is promoted to a signed type first.
template <std::integral T> using wrapping_t = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

template <std::integral T> constexpr T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
}
template <std::integral T> constexpr T wrapping_sub(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
}
template <std::integral T> constexpr T wrapping_mul(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
}

/// Quotient towards zero.
template <std::integral T> constexpr T safe_div(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return wrapping_sub(T{0}, a);  // the lowest value has no positive counterpart
  return static_cast<T>(a / b);
}

/// Remainder with the sign of the dividend.
template <std::integral T> constexpr T safe_rem(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

/// Remainder with the sign of the divisor.
template <std::integral T> constexpr T safe_floor_mod(T a, T b) {
  const T remainder = safe_rem(a, b);
  if constexpr (std::is_signed_v<T>)
    if (remainder != 0 && (remainder < 0) != (b < 0)) return static_cast<T>(remainder + b);
  return remainder;
}

}  // namespace attune
