// Takes the zero points off the constant weights of 8-bit products where the result fits signed bytes: vendor kernels
// want signed weights with zero points of 0.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int center_weights(Graph& graph);

}  // namespace attune::rewrite
