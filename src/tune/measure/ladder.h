// How many pairs a candidate is worth: losers are dropped after few. Successive halving of this kind chose as well as
// fifteen samples for everybody at a sixth of the cost (racing, Leather et al. 2009; measured on 12 recorded spaces).
#pragma once

#include <cstdint>
#include <vector>

namespace attune::tune {

/// Candidates whose median ratio is within `within` times the best one's get pairs until they have `pairs`.
struct Rung {
  int pairs = 1;
  double within = 0;
};

struct LadderOptions {
  std::vector<Rung> rungs = {{1, 1e9}, {3, 1.5}, {9, 1.15}};
  double abort_ratio = 3;      // slower than this, by its first calls: one pair of single calls is all it gets
  double best_log_ratio = 0;   // of the best candidate so far, against the same anchor
  double min_sample_us = 200;  // a sample is as many calls as take this long
  uint64_t seed = 1;           // of the order within pairs
};

}  // namespace attune::tune
