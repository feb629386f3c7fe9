// Nodes that are activations: functions of single elements that products take in.
#pragma once

#include "graph/graph.h"
#include "ops/epilogue.h"

#include <optional>

namespace attune::rewrite {

/// The activation that a node is, when its parameters are plain numbers.
std::optional<EpilogueStep> as_activation(const Graph& graph, const Node& node);

}  // namespace attune::rewrite
