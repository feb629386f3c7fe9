// Runs a model with a choice of kernels beside its defaults.
#pragma once

#include "job/pair_runner.h"
#include "job/tuning_task.h"

namespace attune {

struct SessionRunnerOptions : PairRunnerOptions {
  /// Why a kernel is used, for the plan.
  std::function<std::string(size_t task, const tune::Trial&)> reason;
};

class SessionRunner final : public PairRunner {
 public:
  /// Choices go by the position of a task in `tasks`.
  SessionRunner(const Session& before, std::span<const Tensor> inputs, std::vector<TuningTask> tasks,
                SessionRunnerOptions options);

 private:
  Session make_session(const Choices& choices) const override;
  std::vector<ChangedRegion> regions_of(const Choices& choices, const Plan& before, const Plan& after) const override;

  std::vector<TuningTask> tasks_;
  std::function<std::string(size_t task, const tune::Trial&)> reason_;
};

}  // namespace attune
