// attune::FusedVector as the operators that it was made of, for where no provider has the fused one.
#pragma once

#include "ops/infer_graph.h"

namespace attune {

/// Appends the steps of `fused` to `nodes`; values between them and constants for their numbers are added to the graph.
void take_vector_apart(Graph& graph, const GraphFacts& facts, const Node& fused, std::vector<Node>& nodes);

}  // namespace attune
