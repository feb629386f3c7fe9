// Casts once where a value is cast to a type that holds all its values and from there to another, or not at all where
// that leads back.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int merge_casts(Graph& graph);

}  // namespace attune::rewrite
