// Writes a deconvolution whose window is as large as its stride, so that no two pixels meet in one, as a 1x1
// convolution to the pixels of a square and DepthToSpace: a plain matrix product, which takes bias and activation in.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int spread_deconvolutions(Graph& graph);

}  // namespace attune::rewrite
