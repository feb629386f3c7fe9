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

/// Paired log-ratios, by the process that they were measured in: what memory a process happens to get can make several
/// percent that no repetition inside of it averages out.
using RatiosByProcess = std::vector<std::vector<double>>;

/// From at least one ratio:
///
/// - faster, slower: the whole interval and the medians of all processes lie on one side of 0, and the median is
/// further out than the tie band and the noise: the floor, or half of what the processes differ by
/// - tie: the whole interval lies within the larger of the tie band and twice the noise, or on one side of 0 but not as
///   far out as a claim needs
/// - unresolved: more rounds are needed; always with fewer than the confidence takes (6 for 95 %)
Judgement judge(const RatiosByProcess& processes, const VerdictOptions& options);

/// From the rounds of a duplicate, how far identical code seemed to differ: the end of the interval that is further
/// from 0, at least twice the median, and at least the median of any process.
double noise_of(const RatiosByProcess& processes, double confidence);

}  // namespace attune::tune
