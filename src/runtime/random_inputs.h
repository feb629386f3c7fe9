// Inputs for a model when the user gives none: random by seed, in ranges that a model can digest.
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <map>
#include <vector>

namespace attune {

/// Floats are normal with deviation 1. Integers that index a table of the model stay inside it, all others are 0 or 1.
/// Shapes come from the graph, open ones from `shapes` by input name; throws UserError naming what is still open.
std::vector<Tensor> random_inputs(const Graph& graph, const std::map<std::string, Dims>& shapes, uint64_t seed);

}  // namespace attune
