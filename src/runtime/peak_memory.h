// The memory that running a graph takes, worked out from lifetimes.
#pragma once

#include "graph/graph.h"
#include "ops/infer_graph.h"

#include <optional>

namespace attune {

struct MemoryEstimate {
  int64_t constant_bytes = 0;
  std::optional<int64_t> activation_bytes;  // largest sum of live values; nothing while a shape is open
};

/// Inputs and outputs count as live throughout; a value lives from its producer to its last reader. Values inside
/// control-flow bodies are not counted.
MemoryEstimate estimate_memory(const Graph& graph, const GraphFacts& facts);

}  // namespace attune
