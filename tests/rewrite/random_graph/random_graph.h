// Random valid graphs: of every family of operators that passes and planners look at, with several readers, several
// outputs, outputs in the middle, symbolic batches, odd sizes and ones. The same graph for the same seed everywhere.
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <vector>

namespace attune::test {

struct RandomGraph {
  Graph graph;
  std::vector<Tensor> inputs;
};

RandomGraph make_random_graph(uint64_t seed);

}  // namespace attune::test
