// A pass rewrites a graph into an equal one that runs faster. One function behind one header; pipeline.cc lists them
// all.
#pragma once

#include "graph/graph.h"

namespace attune::rewrite {

/// Returns how many places it changed. Leaves the graph well formed: verify() holds after every pass.
using Pass = int (*)(Graph& graph);

}  // namespace attune::rewrite
