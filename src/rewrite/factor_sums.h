// Writes x + x * s as x * (1 + s) where s is the smaller operand, as in blocks that excite channels and keep what they
// had: one pass over the large one instead of two.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int factor_sums(Graph& graph);

}  // namespace attune::rewrite
