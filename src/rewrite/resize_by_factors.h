// Writes a Resize that repeats each element a whole number of times as Upsample, whose factors are attributes: what a
// workload says, so that kernels for it can be found.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int resize_by_factors(Graph& graph);

}  // namespace attune::rewrite
