// Writes the mean over all positions of a map as GlobalAveragePool, which has kernels in every layout.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int pool_means(Graph& graph);

}  // namespace attune::rewrite
