// Gives a channel shuffle of two groups to the 1x1 convolution before it: each of its results is written where the
// shuffle would move it, together with the channel of the other map that takes turns with it.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

/// Whose result nothing else reads, with as many channels as the other map.
Places fuse_shuffles(Graph& graph, const LeftAlone& left_alone);

}  // namespace attune::rewrite
