// Two ways to run a model, measured side by side.
#pragma once

#include "base/statistics.h"
#include "runtime/session.h"

#include <functional>
#include <span>
#include <vector>

namespace attune {

/// What counts: the median time of a run, or how many runs a second there are, slow ones included.
enum class Metric : uint8_t { latency, throughput };

struct SessionComparison {
  Metric metric = Metric::latency;
  std::vector<double> before_ms, after_ms;                         // of a run, one of each in every round
  std::vector<std::vector<double>> before_step_ms, after_step_ms;  // by round: of the steps of the plans
  double ratio = 1;                                                // before over after: above 1, the second is faster
  Interval ratio_interval{1, 1};                                   // 95 %
  bool faster() const { return is_enough() && ratio_interval.low > 1; }
  bool slower() const { return is_enough() && ratio_interval.high < 1; }
  /// Fewer rounds cannot have that confidence, however they fall.
  bool is_enough() const { return before_ms.size() >= 6; }

  void add(const SessionComparison& more);  // further rounds
  void summarize();                         // ratio and interval from the rounds
};

struct CompareOptions {
  double seconds = 3;
  int wanted_rounds = 15;  // up to twice the time, where a run takes long
  Metric metric = Metric::latency;
  uint64_t seed = 1;
  std::function<bool()> stop = [] { return false; };
};

/// Rounds in which each has its turn, in random order: machines drift, and neighbours in time drift alike. Short runs
/// are repeated within a turn, the first of which does not count: it finds the caches full of the other's weights.
SessionComparison compare_sessions(const Session& before, const Session& after, std::span<const Tensor> inputs,
                                   const CompareOptions& options = {});

}  // namespace attune
