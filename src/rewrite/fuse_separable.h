// Makes one attune::FusedSeparable of a depthwise convolution and the 1x1 convolution that alone reads it, so that what
// lies between them never leaves the cache. Whether that pays depends on the caches and on the kernels there are for
// each alone, so it is done only where somebody has measured it.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

Places fuse_separable(Graph& graph, const AskedFor& asked_for);

}  // namespace attune::rewrite
