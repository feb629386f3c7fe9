// Gives a Pad with zeros to the convolution or pool after it, which pads without a copy.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int take_in_padding(Graph& graph);

}  // namespace attune::rewrite
