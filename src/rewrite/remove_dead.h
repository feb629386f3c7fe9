// Drops nodes whose outputs nothing reads.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int remove_dead(Graph& graph);

}  // namespace attune::rewrite
