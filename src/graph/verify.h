// Checks the invariants that every graph holds between passes.
#pragma once

#include "graph/graph.h"

namespace attune {

/// Throws InternalError naming node and value when the graph is not well formed: a value read before it is produced,
/// produced twice, a name used twice, a capture of nothing, a constant that contradicts its type. Subgraphs included.
void verify(const Graph& graph);

}  // namespace attune
