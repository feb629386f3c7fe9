// Products of queries and keys, their scale and masks, softmax, the product with values and the transposes around them
// → attune::FusedAttention, which reads heads where projections leave them and never holds all scores.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

Places fuse_attention(Graph& graph, const LeftAlone& left_alone);

}  // namespace attune::rewrite
