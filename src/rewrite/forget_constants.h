// Lets go of constants that nothing reads any more, such as weights that were folded into others.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int forget_constants(Graph& graph);

}  // namespace attune::rewrite
