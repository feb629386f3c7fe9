// Puts the branch that an If takes in its place, where the condition is known beforehand.
#pragma once

#include "graph/graph.h"

#include <functional>
#include <optional>

namespace attune::rewrite {

/// `decide` tells the condition of an If; nothing while it is open. Returns how many were replaced. Branches inside of
/// branches are left for another call, since only then can their conditions be looked at.
int inline_branches(Graph& graph, const std::function<std::optional<bool>(const Node&)>& decide);

}  // namespace attune::rewrite
