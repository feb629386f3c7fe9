// Subgraph tuning: which operators of a model are fused is decided by what the model takes either way.
#pragma once

#include "job/job_options.h"
#include "job/opat.h"
#include "job/subgraph.h"
#include "job/tuning_result.h"

namespace attune {

/// What would be decided: the subgraphs with their candidates, nothing measured but the model itself.
std::vector<Subgraph> plan_sgat(const Session& session, std::span<const Tensor> inputs);

/// What searches over all subgraphs at once are called; throws UserError for what is no search or mode. "auto": one
/// candidate of each subgraph at a time. Empty: nothing is tried.
std::string partition_algorithm(const std::string& name);

/// `model` is the graph before it is rewritten.
TuningOutcome run_sgat(const Graph& model, const InputMaker& make_inputs, const JobOptions& options);

}  // namespace attune
