// Searches over all subgraphs at once: each is a parameter whose values are its ways to be fused.
#pragma once

#include "job/partition_stage.h"
#include "tune/search/make_searcher.h"

namespace attune {

/// The largest space of the subgraphs in their order: those beyond what can be counted are left as they are.
Space partition_space(std::span<const Subgraph> subgraphs);

/// What a point of that space does otherwise than the default.
Choices choices_at(const Space& space, uint64_t point, std::span<const Subgraph> subgraphs);

/// Asks the search for partitions and runs the model with each, until nothing is left of the time (this many seconds of
/// the job), of the trials or of the space. What is known of all parts of a partition is summed up and not run again.
void search_partitions(SgatJob& job, PartitionStage& stage, const std::string& algorithm, double round_s);

}  // namespace attune
