// BatchNormalization that no convolution took in → Mul and Add by constants of each channel, which join the activation
// behind them in one kernel. Those are for shapes that are known; others are left as they are.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int spell_out_batch_norm(Graph& graph);

}  // namespace attune::rewrite
