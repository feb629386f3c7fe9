// x * Sigmoid(x) → Swish, x * HardSigmoid(x) → HardSwish, and the Erf and Tanh spellings of Gelu → Gelu.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int name_activations(Graph& graph);

}  // namespace attune::rewrite
