#include "job/partition_runner.h"

namespace attune {

SessionOptions partitioned(SessionOptions options, std::span<const Subgraph> subgraphs, const Choices& choices) {
  for (const auto& [subgraph, trial] : choices) {
    const FusionCandidate* candidate = subgraphs[subgraph].find(trial);
    if (candidate == nullptr) throw InternalError("a subgraph has no candidate {}", to_text(trial));
    choose(subgraphs[subgraph], *candidate, options);
  }
  return options;
}

PartitionRunner::PartitionRunner(const Graph& model, const Session& before, std::span<const Tensor> inputs,
                                 std::span<const Subgraph> subgraphs, PairRunnerOptions options)
    : PairRunner(before, inputs, std::move(options)), model_(model), subgraphs_(subgraphs) {}

Session PartitionRunner::make_session(const Choices& choices) const {
  return Session(Graph(model_), partitioned(session_options(), subgraphs_, choices));
}

std::vector<ChangedRegion> PartitionRunner::regions_of(const Choices& choices, const Plan& before,
                                                       const Plan& after) const {
  std::vector<NodeNames> names;
  for (const auto& [subgraph, trial] : choices) names.push_back(subgraphs_[subgraph].names());
  return changed_regions(before, after, names);
}

}  // namespace attune
