// Divides a graph where the data decide shapes: what comes before can be planned, what follows can be once it is known.
#pragma once

#include "graph/graph.h"
#include "ops/infer_graph.h"

#include <memory>
#include <optional>
#include <vector>

namespace attune {

/// Where a tensor comes from when the second part of a divided graph runs, or when its results are gathered.
struct PartSource {
  enum class Kind {
    given,  // to the whole graph: inputs, then captures
    head,   // an output of the first part
    tail,   // an output of the second part
  };
  Kind kind = Kind::given;
  size_t index = 0;
};

struct DividedGraph {
  std::vector<bool> in_tail;  // by node: what tells two divisions apart
  // Values keep their ids in both parts. Shared: plans of several shapes come from one graph.
  std::shared_ptr<const Graph> head;    // inputs and captures of the whole, nodes whose shapes are known
  std::shared_ptr<const Graph> tail;    // nodes that depend on a value whose shape only the data decide
  std::vector<PartSource> tail_inputs;  // given, or of the head
  std::vector<PartSource> outputs;      // of the whole graph: of the head or the tail
};

/// Nothing when all shapes are known, or when nothing comes before the first that is not.
std::optional<DividedGraph> divide_at_open_shapes(const Graph& graph, const GraphFacts& facts);

}  // namespace attune
