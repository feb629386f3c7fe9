// Runs a graph node by node with the operators' reference kernels. Slow and plain: what every faster way is checked
// against.
#pragma once

#include "graph/graph.h"

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace attune {

struct RunOptions {
  uint64_t seed = 0;  // of random operators without a seed of their own
  /// Where a session writes how long each step of its plan took, in milliseconds; nullptr: nowhere.
  std::vector<double>* step_ms = nullptr;
};

class ReferenceExecutor {
 public:
  /// Checks that every operator is supported before anything runs. The graph must outlive the executor.
  explicit ReferenceExecutor(const Graph& graph);
  ~ReferenceExecutor();
  ReferenceExecutor(const ReferenceExecutor&) = delete;
  ReferenceExecutor& operator=(const ReferenceExecutor&) = delete;

  /// One tensor for each graph input, in order; returns one for each output. Safe to call from several threads.
  std::vector<Tensor> run(std::span<const Tensor> inputs, const RunOptions& options = {}) const;

 private:
  class GraphRunner;
  std::unique_ptr<GraphRunner> runner_;
};

/// Throws UserError when a tensor does not fit the declared dtype or shape of its input.
void check_input(const Value& input, const Tensor& tensor);
void check_input(const Value& input, DType dtype, const Dims& dims);

}  // namespace attune
