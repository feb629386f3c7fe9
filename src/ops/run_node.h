// Runs one node with the reference kernel of its operator: infer the output types from the actual inputs, then compute.
#pragma once

#include "ops/op.h"

#include <optional>

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
void run_node_into(const Node& node, std::span<const Tensor* const> inputs, std::span<Tensor> outputs);

/// A node that runs again and again on tensors of the same types: what can be looked up or inferred once is.
class PreparedNode {
 public:
  /// `inputs` as they will be at every run, as far as known: constants with their contents, others with type alone.
  struct Input {
    DType dtype = DType::undefined;
    int64_t rank = 0;
    bool constant = false;
  };
  PreparedNode(Node node, std::span<const std::optional<Input>> inputs);

  /// As run_node_into.
  void run_into(std::span<const Tensor* const> inputs, std::span<Tensor> outputs) const;

 private:
  Node node_;
  const OpDef* op_;
  bool direct_ = true;  // nothing depends on contents, and every output is wanted
};

/// The types of the outputs for these inputs, as far as inference alone tells.
std::vector<ValueType> infer_node(const Node& node, std::span<const Tensor* const> inputs);

}  // namespace attune
