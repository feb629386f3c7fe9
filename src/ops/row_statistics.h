// Mean and variance of contiguous runs, accumulated in double.
#pragma once

#include "ops/dispatch.h"

#include <array>

namespace attune {

/// The sum of value(i) over [0, count) in double; independent lanes break the chain of additions.
template <class F> double lane_sum(int64_t count, F&& value) {
  constexpr int64_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[static_cast<size_t>(lane)] += value(i + lane);
  double sum = 0;
  for (; i < count; ++i) sum += value(i);
  for (const double lane : lanes) sum += lane;
  return sum;
}

template <class T> double as_double(T value) { return static_cast<double>(static_cast<compute_t<T>>(value)); }

template <class T> double run_sum(const T* src, int64_t count) {
  return lane_sum(count, [src](int64_t i) { return as_double(src[i]); });
}

/// Sum of squared distances from `center`; 0 gives the plain sum of squares.
template <class T> double run_sum_of_squares(const T* src, int64_t count, double center) {
  return lane_sum(count, [src, center](int64_t i) {
    const double distance = as_double(src[i]) - center;
    return distance * distance;
  });
}

}  // namespace attune
