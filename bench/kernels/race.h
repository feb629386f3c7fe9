// Times kernels of one workload against each other, interleaved, so that a change of the machine's speed hits all alike.
#pragma once

#include "kernel/provider.h"

#include <string>
#include <vector>

namespace attune::bench {

struct Candidate {
  std::string side;  // "generated", "onednn direct", "onednn winograd"
  Workload workload;  // the same computation for all, in the layout that this kernel reads
  Config config;
  const Provider* provider = nullptr;
};

struct RaceOptions {
  int rounds = 14;
  double sample_ms = 0.6;
};

/// The best candidate of a side, with its median time and its times in the rounds that all finalists shared.
struct Finalist {
  Candidate candidate;
  double median_us = 0;
  std::vector<double> round_us;
};

/// One finalist for each side that has candidates. Half-way losers leave early (successive halving by their best time).
std::vector<Finalist> race(const std::vector<Candidate>& candidates, const RaceOptions& options);

/// How often the first is faster than the second: the median of the paired rounds, and their 10th and 90th percentile.
struct Ratio {
  double median = 0, low = 0, high = 0;
};
Ratio speedup(const Finalist& of, const Finalist& over);

}  // namespace attune::bench
