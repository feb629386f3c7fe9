// BatchNormalization(Conv(x, W) + B) with constant statistics is Conv(x, W * s) + (B - mean) * s + bias, s = scale /
// sqrt(var + eps).
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int fold_batch_norm(Graph& graph);

}  // namespace attune::rewrite
