// Applies an activation before the reshapes and transposes that lie between a product and it, so that the product can
// take it in.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int lift_activations(Graph& graph);

}  // namespace attune::rewrite
