// Runs one node with the reference kernel of its operator: infer the output types from the actual inputs, then compute.
#pragma once

#include "ops/op.h"

namespace attune {

struct RunNodeOptions {
  uint64_t random_seed = 0;
  /// Runs a subgraph of If, Loop or Scan; not needed for other operators.
  std::function<std::vector<Tensor>(const Graph&, std::span<const Tensor>)> run_subgraph;
};

/// inputs[i] is nullptr where the node omits input i. The result has one tensor for each output of the node; those the
/// node omits are empty().
std::vector<Tensor> run_node(const Node& node, std::span<const Tensor* const> inputs,
                             const RunNodeOptions& options = {});

/// The same into tensors that exist already, of exactly the inferred types; empty() where the node omits an output.
void run_node_into(const Node& node, std::span<const Tensor* const> inputs, std::span<Tensor> outputs,
                   const RunNodeOptions& options = {});

/// The types of the outputs for these inputs, as far as inference alone tells.
std::vector<ValueType> infer_node(const Node& node, std::span<const Tensor* const> inputs);

}  // namespace attune
