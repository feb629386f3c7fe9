// Writes a layer normalisation that is spelled out in primitives as LayerNormalization.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int name_layer_norm(Graph& graph);

}  // namespace attune::rewrite
