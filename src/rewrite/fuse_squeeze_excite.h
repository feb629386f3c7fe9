// The mean over each channel of a map, the two 1x1 convolutions behind it, and the product of the map with what they
// give → attune::SqueezeExcite, which reads the map a second time while the caches still hold it, and takes one step
// where four did little work each.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

Places fuse_squeeze_excite(Graph& graph, const LeftAlone& left_alone);

}  // namespace attune::rewrite
