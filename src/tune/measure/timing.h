// Timing inside the worker. A kernel is only ever timed beside another one, in random order: on machines that drift,
// identical code timed one after the other differed by 8.5 % on average, in interleaved pairs by 0.6 %.
#pragma once

#include "tune/measure/instance.h"

#include <functional>

namespace attune::tune {

struct PairTimes {
  std::vector<double> candidate_ns, anchor_ns;  // of one call
  int disturbed = 0;                            // pairs during which the scheduler took a thread away
};

/// `entering(0)` is called before the candidate runs and `entering(1)` before the anchor does.
using Entering = std::function<void(int entrant)>;

/// Pairs up to the rung that the candidate's ratio earns it.
PairTimes time_pairs(KernelInstance& candidate, KernelInstance& anchor, const PairsRequest& request,
                     const Entering& entering);

struct RoundTimes {
  std::vector<std::vector<double>> ns;  // by entrant, then by round
  int disturbed = 0;                    // rounds
};

/// Every entrant once in each round, in an order that is drawn anew.
RoundTimes time_rounds(std::span<KernelInstance* const> entrants, const RoundsRequest& request,
                       const Entering& entering);

}  // namespace attune::tune
