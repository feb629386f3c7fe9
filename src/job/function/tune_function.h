// Tunes a function of the user's over a set of weighted shapes: every shape is searched with the best of the others as
// a start, its best are measured once more beside the default, and one configuration is sought that serves them all.
#pragma once

#include "job/function/function_record.h"
#include "job/function/pair_times.h"

#include <functional>
#include <span>

namespace attune {

struct WeightedDims {
  Dims shape;
  double weight = 1;  // how much a gain here counts, and the share of trials that it gets
};

struct FunctionTuneOptions {
  int64_t trials = 100;  // configurations to measure, over all shapes; the best are measured once more beside
  double budget_s = 0;   // wall clock; 0: no limit
  std::string algorithm = "auto";
  uint64_t seed = 1;
  PairOptions pairs;
  std::filesystem::path record;  // kept up to date while tuning, and continued when it is there; empty: none
  std::function<bool()> stop = [] { return false; };
  struct Event {
    const Dims& shape;
    const FunctionTrial& trial;
    bool reused;  // known from the record
  };
  std::function<void(const Event&)> on_trial = [](const Event&) {};
};

/// Throws UserError for a function or shapes that cannot be tuned, when the default of a shape does not work, and for a
/// record of another function. A record of another device or version is replaced.
FunctionRecord tune_function(const TunableFunction& function, std::span<const WeightedDims> shapes,
                             const FunctionTuneOptions& options);

}  // namespace attune
