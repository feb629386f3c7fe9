// Operator tuning: every workload of a model is searched, measured, verified and remembered; the winners make a plan,
// which is kept when the whole model is faster with it.
#pragma once

#include "job/job_options.h"
#include "job/tuning_result.h"

namespace attune {

struct OpatOptions : JobOptions {
  tune::MeasurerOptions measurer;
};

/// What would be tuned: tasks with their spaces, nothing measured but the model itself.
std::vector<TaskSearch> plan_opat(const Session& session, std::span<const Tensor> inputs, const OpatOptions& options);

std::vector<TaskSearch> plan_opat(std::vector<TuningTask> tasks, const OpatOptions& options);

using InputMaker = std::function<std::vector<Tensor>(const Graph&)>;

/// `make_session` opens the model with the given options; called once.
TuningOutcome run_opat(const std::function<Session(const SessionOptions&)>& make_session, const InputMaker& make_inputs,
                       const OpatOptions& options);

}  // namespace attune
