// What an LSTM or GRU layer is made of, which of them one kernel computes as a whole, and when threads share one.
#pragma once

#include "kernel/provider.h"

namespace attune {

namespace recurrent {
// Positions among the operator's inputs and outputs.
inline constexpr size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeepholes = 7;
inline constexpr size_t kY = 0, kLastH = 1, kLastC = 2;
}  // namespace recurrent

struct RecurrentLayer {
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 0;
  bool reverse = false;  // the first direction
  bool gru = false;
  bool reset_first = false;  // a GRU's reset gate comes before the product with the old state
};

bool is_recurrent(const Workload& workload);

/// Of a workload that is_recurrent.
std::variant<RecurrentLayer, Refusal> recurrent_layer(const Workload& workload);

/// Threads for each of so many directions at a time, which share out so many parts.
int most_sharing_threads(int64_t directions, int64_t parts);

/// Whether threads that share a direction gain by rule, where each step reads so many bytes of weights: they meet after
/// each, which costs a good part of a microsecond.
bool sharing_pays(int64_t weight_bytes);

}  // namespace attune
