// Which shapes of a graph rest on an assumption: inference takes slices of a symbolic axis to lie inside of it, so that
// x[0:2] of N has 2 elements, which is wrong for one. No number of such a shape may be written into the graph.
#pragma once

#include "ops/infer_graph.h"

#include <vector>

namespace attune::rewrite {

/// By value: whether its shape does, or that of anything that it is made from.
std::vector<bool> assumed_shapes(const Graph& graph, const GraphFacts& facts);

}  // namespace attune::rewrite
