// What each reduction does with an element. Floats add up in double; integers wrap around modulo 2^64 and are cut to
// their width at the end, which is what wrapping at every step gives.
#pragma once

#include "ops/dispatch.h"

#include <cmath>
#include <limits>

namespace attune::reduce_steps {

template <class T> inline constexpr bool kIsInteger = std::numeric_limits<T>::is_integer;
template <class T> using sum_t = std::conditional_t<kIsInteger<T>, uint64_t, double>;

template <class T> sum_t<T> widen(T value) {
  if constexpr (kIsInteger<T>)
    return static_cast<uint64_t>(value);
  else
    return static_cast<double>(static_cast<compute_t<T>>(value));
}

/// Double to element type; integers saturate and NaN becomes 0, as a plain cast of those is undefined.
template <class T> T narrow(double value) {
  if constexpr (kIsInteger<T>) {
    if (std::isnan(value)) return 0;
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (value <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<compute_t<T>>(value));
  }
}

template <class T> T narrow_sum(sum_t<T> value) {
  if constexpr (kIsInteger<T>)
    return static_cast<T>(value);
  else
    return narrow<T>(value);
}

template <class T> struct Sum {
  using Acc = sum_t<T>;
  static Acc identity() { return 0; }
  static void step(Acc& acc, T value) { acc += widen(value); }
  static void merge(Acc& acc, Acc other) { acc += other; }
  static T finish(Acc acc, int64_t) { return narrow_sum<T>(acc); }
};

template <class T> struct Mean : Sum<T> {
  static T finish(sum_t<T> acc, int64_t count) {
    if constexpr (!kIsInteger<T>)
      return narrow<T>(acc / static_cast<double>(count));  // NaN for an empty set
    else if (count == 0)
      return 0;
    else if constexpr (std::numeric_limits<T>::is_signed)
      return static_cast<T>(static_cast<int64_t>(acc) / count);
    else
      return static_cast<T>(acc / static_cast<uint64_t>(count));
  }
};

template <class T> struct SumSquare : Sum<T> {
  static void step(sum_t<T>& acc, T value) { acc += widen(value) * widen(value); }
};

template <class T> struct L1 : Sum<T> {
  static void step(sum_t<T>& acc, T value) {
    if constexpr (!kIsInteger<T>)
      acc += std::fabs(widen(value));
    else if constexpr (std::numeric_limits<T>::is_signed)
      acc += value < 0 ? 0 - widen(value) : widen(value);
    else
      acc += widen(value);
  }
};

template <class T> struct Prod : Sum<T> {
  static sum_t<T> identity() { return 1; }
  static void step(sum_t<T>& acc, T value) { acc *= widen(value); }
  static void merge(sum_t<T>& acc, sum_t<T> other) { acc *= other; }
};

/// The results that need floating point even for integers.
template <class T> struct DoubleSum {
  using Acc = double;
  static Acc identity() { return 0; }
  static double real(T value) { return static_cast<double>(static_cast<compute_t<T>>(value)); }
  static void step(Acc& acc, T value) { acc += real(value); }
  static void merge(Acc& acc, Acc other) { acc += other; }
};

template <class T> struct L2 : DoubleSum<T> {
  static void step(double& acc, T value) { acc += DoubleSum<T>::real(value) * DoubleSum<T>::real(value); }
  static T finish(double acc, int64_t) { return narrow<T>(std::sqrt(acc)); }
};

template <class T> struct LogSum : DoubleSum<T> {
  static T finish(double acc, int64_t) { return narrow<T>(std::log(acc)); }
};

/// The sum of exponentials relative to the largest value so far, so that nothing overflows.
struct ScaledExpSum {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

template <class T> struct LogSumExp {
  using Acc = ScaledExpSum;
  static Acc identity() { return {}; }
  static void step(Acc& acc, T value) { merge(acc, {DoubleSum<T>::real(value), 1.0}); }
  static void merge(Acc& acc, const Acc& other) {
    if (other.largest == acc.largest) {  // also when both are infinite, where the difference is NaN
      acc.sum += other.sum;
    } else if (other.largest > acc.largest) {
      acc = {other.largest, acc.sum * std::exp(acc.largest - other.largest) + other.sum};
    } else {
      acc.sum += other.sum * std::exp(other.largest - acc.largest);
    }
  }
  static T finish(const Acc& acc, int64_t) { return narrow<T>(std::log(acc.sum) + acc.largest); }
};

enum class Side { largest, smallest };
/// The largest or smallest element; NaN wins, as in numpy. An empty set gives the infinity or the end of the range.
template <class T, Side kSide> struct Extreme {
  using Value = compute_t<T>;
  using Acc = std::conditional_t<std::is_same_v<T, bool>, uint8_t, Value>;
  static Acc identity() {
    using Limits = std::numeric_limits<Value>;
    if constexpr (Limits::has_infinity)
      return kSide == Side::largest ? -Limits::infinity() : Limits::infinity();
    else
      return kSide == Side::largest ? Limits::lowest() : Limits::max();
  }
  static void step(Acc& acc, T element) { merge(acc, static_cast<Acc>(static_cast<Value>(element))); }
  static void merge(Acc& acc, Acc value) {
    const bool better = kSide == Side::largest ? value > acc : value < acc;
    acc = better || value != value ? value : acc;
  }
  static T finish(Acc acc, int64_t) { return static_cast<T>(acc); }
};
template <class T> using Max = Extreme<T, Side::largest>;
template <class T> using Min = Extreme<T, Side::smallest>;

}  // namespace attune::reduce_steps
