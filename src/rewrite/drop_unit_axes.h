// Makes a convolution over a map of one column, which is how exporters write one over a sequence, one of fewer axes:
// what follows then reads its result as it is, and can be fused with it.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int drop_unit_axes(Graph& graph);

}  // namespace attune::rewrite
