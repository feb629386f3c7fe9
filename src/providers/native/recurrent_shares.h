// How threads may share out a recurrent layer, and which way is good without measuring.
#pragma once

#include "kernel/config.h"
#include "providers/native/recurrent_shape.h"

#include <vector>

namespace attune::native {

struct ThreadShares {
  int threads = 1;       // for each direction
  bool in_turn = false;  // one direction after the other, so that each thread has fewer weights; else all at a time
};

/// The better by rule first. `weight_bytes` are those of one direction that every step reads.
std::vector<Config> share_configs(const RecurrentShape& shape, int64_t weight_bytes);

/// What a config says: `threads`, and `directions` where it is not `together`. UserError for what makes no sense.
ThreadShares thread_shares(const Config& config, const RecurrentShape& shape);

}  // namespace attune::native
