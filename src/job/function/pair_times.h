// A configuration of the user's function, verified and timed beside the default: machines drift, neighbours in time
// drift alike.
#pragma once

#include "bank/outcome.h"
#include "bank/record.h"
#include "job/function/tunable_function.h"

#include <chrono>

namespace attune {

struct PairOptions {
  int pairs = 5;
  double min_sample_us = 200;    // a sample is as many calls as take this long
  double give_up_ratio = 1.5;    // slower than this in the first pair: one pair is enough
  uint64_t seed = 1;             // of the order within pairs
  bool in_child_process = true;  // else a crash or a hang is this process's
  std::chrono::milliseconds timeout{10'000};
};

struct PairTimes {
  Outcome outcome = Outcome::ok;
  std::string message;  // why it is not ok
  /// One for each pair, nanoseconds of one call; empty unless the outcome is ok.
  std::vector<double> candidate_ns, default_ns;

  double time_ns() const;       // median
  double default_time() const;  // median
  /// Candidate over default, below 1 is faster: the median of the pairs' ratios with its interval by the sign test.
  Ratio ratio(double confidence) const;
};

PairTimes measure_pairs(const TunableFunction& function, const Dims& shape, const Config& candidate,
                        const Config& standard, const PairOptions& options);

}  // namespace attune
