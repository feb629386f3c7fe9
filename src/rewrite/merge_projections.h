// The projections of one value to queries, keys and values of an attention → one product with all of their weights side
// by side, of which the attention reads columns: one large product is faster than three.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

Places merge_projections(Graph& graph, const LeftAlone& left_alone);

}  // namespace attune::rewrite
