// A small reproducible random generator: the same numbers for the same seed on every platform and with every compiler,
// which the distributions of <random> do not promise.
#pragma once

#include <cmath>
#include <cstdint>

namespace attune {

/// SplitMix64 (Steele, Lea and Flood, 2014): a counter passed through a mixing function. Not for cryptography.
class Random {
 public:
  explicit Random(uint64_t seed) : counter_(seed) {}

  uint64_t next() {
    uint64_t z = counter_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// Mean 0, standard deviation 1, by the polar method of Marsaglia. Rounded to float precision, so that libraries
  /// whose logarithms differ in the last bit still agree.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double scale = std::sqrt(-2 * std::log(square) / square);
    spare_ = static_cast<float>(y * scale);
    has_spare_ = true;
    return static_cast<float>(x * scale);
  }

  /// In [0, n), every value equally likely; n must be positive.
  int64_t below(int64_t n) {
    const auto range = static_cast<uint64_t>(n);
    const uint64_t surplus = (UINT64_MAX - range + 1) % range;  // 2^64 mod n: values at the top that would favour some
    uint64_t value = next();
    while (value > UINT64_MAX - surplus) value = next();
    return static_cast<int64_t>(value % range);
  }

 private:
  uint64_t counter_;
  double spare_ = 0;  // the polar method yields two numbers at a time
  bool has_spare_ = false;
};

}  // namespace attune
