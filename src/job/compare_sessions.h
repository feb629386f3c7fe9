// Two ways to run a model, measured side by side.
#pragma once

#include "base/statistics.h"
#include "runtime/session.h"

#include <functional>
#include <span>
#include <vector>

namespace attune {

struct SessionComparison {
  std::vector<double> before_ms, after_ms;  // of the runs, one of each in every round
  double ratio = 1;                         // before over after: above 1, the second is faster
  Interval ratio_interval;                  // 95 %
  bool faster() const { return ratio_interval.low > 1; }
  bool slower() const { return ratio_interval.high < 1; }
};

struct CompareOptions {
  double seconds = 3;
  int fewest_rounds = 15;
  uint64_t seed = 1;
  std::function<bool()> stop = [] { return false; };
};

/// Rounds of one run each in random order: machines drift, and neighbours in time drift alike.
SessionComparison compare_sessions(const Session& before, const Session& after, std::span<const Tensor> inputs,
                                   const CompareOptions& options = {});

}  // namespace attune
