// The workloads of a model, equal ones merged, with weights: what tuning has to look at and `attune inspect --ops`
// shows.
#pragma once

#include "kernel/workload.h"

namespace attune {

struct WorkloadCount {
  std::string key;     // as Workload::key(); symbolic dims stand by name where shapes are open
  std::string op;      // "Conv", "com.microsoft::Gelu"
  std::string inputs;  // "f32[1x64x56x56], f32[64x64x3x3]*", the star for constants
  std::string outputs;
  std::string attributes;
  std::vector<std::string> nodes;  // names of the nodes that it stands for
  Cost cost;                       // of one node
  bool shapes_known = true;        // false: some dim is symbolic, and the cost counts nothing
  int64_t count() const { return static_cast<int64_t>(nodes.size()); }
};

/// The graph's nodes merged, in order of first appearance. Nodes inside control-flow bodies count once each.
std::vector<WorkloadCount> count_workloads(const Graph& graph, const GraphFacts& facts);

/// Flops and bytes of one node.
Cost node_cost(const GraphFacts& facts, const Node& node);

}  // namespace attune
