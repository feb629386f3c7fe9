// What the inputs of a step hold as far as its model fixes it.
#pragma once

#include "kernel/parse_workload.h"
#include "runtime/plan.h"

namespace attune {

/// Whole numbers that the model fixes may be shapes, axes or indices, so they go along as they are, unless they are
/// many; everything else may be made up.
std::vector<Contents> step_contents(const Plan& plan, const Step& step);

}  // namespace attune
