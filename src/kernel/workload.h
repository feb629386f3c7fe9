// A workload: one operator with everything that decides its speed. Equal ones of a model are merged and weighted.
#pragma once

#include "graph/graph.h"
#include "ops/infer_graph.h"

#include <string>
#include <vector>

namespace attune {

struct Workload {
  std::string key;     // canonical text: operator, attributes, dtypes, shapes and layouts of inputs and outputs
  std::string op;      // "Conv", "com.microsoft::Gelu"
  std::string inputs;  // "f32[1x64x56x56], f32[64x64x3x3]", constants marked with *
  std::string outputs;
  std::string attributes;          // "kernel_shape=[3, 3], pads=[1, 1, 1, 1]"
  std::vector<std::string> nodes;  // names of the nodes that it stands for
  Cost cost;                       // of one node
  bool shapes_known = true;        // false: some dim is symbolic, and the cost counts nothing
  int64_t count() const { return static_cast<int64_t>(nodes.size()); }
};

/// The graph's nodes merged into workloads, in order of first appearance. Nodes inside control-flow bodies count once
/// each.
std::vector<Workload> extract_workloads(const Graph& graph, const GraphFacts& facts);

/// Flops and bytes of one node.
Cost node_cost(const GraphFacts& facts, const Node& node);

}  // namespace attune
