// What a model consists of: the numbers behind `attune inspect`.
#pragma once

#include "graph/graph.h"
#include "kernel/workload_count.h"
#include "ops/infer_graph.h"
#include "runtime/peak_memory.h"

#include <map>
#include <string>
#include <vector>

namespace attune {

struct OperatorCount {
  std::string op;
  int opset = 0;
  int64_t count = 0;
  bool supported = true;
};

struct Inventory {
  std::vector<OperatorCount> operators;  // most frequent first, subgraphs included
  int64_t parameters = 0;  // elements of weights: floats and narrow integers, statistics of batch norms left out
  int64_t weight_bytes = 0;
};

/// Works on any imported graph, also one with operators that attune does not support.
Inventory take_inventory(const Graph& graph);

/// Flops and bytes moved by all nodes of the main graph; `complete` is false while some shape is open.
struct ModelCost {
  Cost cost;
  bool complete = true;
};
ModelCost model_cost(const std::vector<WorkloadCount>& workloads);

}  // namespace attune
