// Applies what follows a look-up in a constant table to the table, once and for all.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int fold_into_tables(Graph& graph);

}  // namespace attune::rewrite
