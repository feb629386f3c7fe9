// Computes once what several nodes compute from the same inputs.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int merge_duplicates(Graph& graph);

}  // namespace attune::rewrite
