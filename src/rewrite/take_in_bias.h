// Makes a constant that is added to each channel of a convolution or deconvolution the bias that it has an input for.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int take_in_bias(Graph& graph);

}  // namespace attune::rewrite
