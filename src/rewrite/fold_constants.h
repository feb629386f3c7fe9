// Computes nodes whose inputs are all constant, ahead of time. Random operators and results beyond 256 MiB are left
// alone.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int fold_constants(Graph& graph);

}  // namespace attune::rewrite
