// Runs a random graph in two ways and says where they differ; a failing graph is cut down to what is needed.
#pragma once

#include "rewrite/random_graph/random_graph.h"

#include <functional>
#include <string>
#include <vector>

namespace attune::test {

/// Computes a graph in the way that is under test.
using Runner = std::function<std::vector<Tensor>(const Graph& graph, const std::vector<Tensor>& inputs)>;

struct CheckOptions {
  double relative = 5e-5;     // of the largest element of an output
  double sensitivity = 30.0;  // times what a change of the inputs by a millionth makes of an output
  double integers = 0;        // by how much whole numbers may differ
};

/// Empty when the runner gives what the reference executor does, else what differs and the smallest part of the graph
/// that still does, as text.
std::string check_graph(const RandomGraph& sample, const Runner& runner, const CheckOptions& options = {});

}  // namespace attune::test
