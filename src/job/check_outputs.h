// Two ways to run a model have to give the same results.
#pragma once

#include "runtime/session.h"

#include <optional>
#include <span>
#include <string>

namespace attune {

/// Runs both and compares every output; what differs beyond rounding, in words, or nothing. Floats may differ by a
/// thousandth of the output's largest magnitude (a hundredth where it is in 16 bits), integers by nothing: an index or
/// a label that changes is another answer.
std::optional<std::string> check_outputs(const Session& before, const Session& after, std::span<const Tensor> inputs);

}  // namespace attune
