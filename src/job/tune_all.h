// Everything in one budget: kernels first, then which operators are fused, then the kernels of what came of that.
#pragma once

#include "job/opat.h"

namespace attune {

/// Advice out of the bank as it is by now; nullptr: none.
using AdvisorMaker = std::function<std::shared_ptr<const Advisor>()>;

/// `model` is the graph before it is rewritten.
TuningOutcome run_all(const Graph& model, const InputMaker& make_inputs, const AdvisorMaker& make_advisor,
                      const OpatOptions& options);

}  // namespace attune
