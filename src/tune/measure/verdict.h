// Who is faster, from interleaved rounds: with an interval, and silent about what the noise could have made.
#pragma once

#include "base/statistics.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace attune::tune {

enum class Verdict : uint8_t { faster, slower, tie, unresolved };
std::string_view verdict_name(Verdict verdict);

struct VerdictOptions {
  double confidence = 0.95;  // of one comparison
  double tie_band = 0.01;    // differences below this do not matter (natural logarithm: 0.01 is 1 %)
  double noise_floor = 0;    // what identical code seemed to differ by
};

struct Judgement {
  Verdict verdict = Verdict::unresolved;
  double log_ratio = 0;   // median of ln(candidate / default)
  Interval log_interval;  // of that median, by the sign test
};

/// From paired log-ratios, not empty:
///
/// - faster, slower: the whole interval lies on one side of 0, and the median is further out than the noise floor
/// - tie: the whole interval lies within the larger of the tie band and twice the noise floor, or excludes 0 by less
///   than the floor
/// - unresolved: more rounds are needed
Judgement judge(std::span<const double> log_ratios, const VerdictOptions& options);

/// How far identical code seemed to differ: the end of the interval that is further from 0.
double noise_of(std::span<const double> duplicate_log_ratios, double confidence);

}  // namespace attune::tune
