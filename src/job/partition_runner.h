// Runs a model with some of its subgraphs fused otherwise beside its default.
#pragma once

#include "job/pair_runner.h"
#include "job/subgraph.h"

namespace attune {

class PartitionRunner : public PairRunner {
 public:
  /// `model` is the graph before it is rewritten. Choices go by the position of a subgraph in `subgraphs`. All must
  /// outlive the runner.
  PartitionRunner(const Graph& model, const Session& before, std::span<const Tensor> inputs,
                  std::span<const Subgraph> subgraphs, PairRunnerOptions options);

 private:
  Session make_session(const Choices& choices) const override;
  std::vector<ChangedRegion> regions_of(const Choices& choices, const Plan& before, const Plan& after) const override;

  const Graph& model_;
  std::span<const Subgraph> subgraphs_;
};

/// The options of a session that has the subgraphs as chosen.
SessionOptions partitioned(SessionOptions options, std::span<const Subgraph> subgraphs, const Choices& choices);

}  // namespace attune
