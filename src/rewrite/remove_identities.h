// Drops Identity, Dropout at inference and casts to the type that a value has already.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int remove_identities(Graph& graph);

}  // namespace attune::rewrite
