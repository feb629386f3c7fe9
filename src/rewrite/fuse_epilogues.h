// Conv or MatMul followed by bias, residual add, scale and activations, each read once → one fused node (domain
// attune).
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

Places fuse_epilogues(Graph& graph, const LeftAlone& left_alone);

}  // namespace attune::rewrite
