// Two ways to run a model have to give the same results.
#pragma once

#include "runtime/session.h"

#include <span>
#include <string>

namespace attune {

struct OutputCheck {
  std::string problem;   // what differs beyond rounding, in words; empty: nothing
  double max_error = 0;  // as a share of an output's largest magnitude
  double tolerance = 0;  // that the loosest of the outputs is held against
};

/// Runs both and compares every output. Floats may differ by a thousandth of the output's largest magnitude (a
/// hundredth where the model computes in 16 bits), integers by nothing: an index or a label that changes is another
/// answer.
OutputCheck check_outputs(const Session& before, const Session& after, std::span<const Tensor> inputs);

}  // namespace attune
