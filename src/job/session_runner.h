// Runs a model with a choice of kernels beside its defaults.
#pragma once

#include "job/model_judge.h"
#include "job/tuning_task.h"

#include <functional>

namespace attune {

struct SessionRunnerOptions {
  SessionOptions session;  // of the default session
  uint64_t seed = 1;
  std::function<bool()> stop = [] { return false; };
  /// Why a kernel is used, for the plan.
  std::function<std::string(size_t task, const tune::Trial&)> reason;
};

class SessionRunner final : public ModelRunner {
 public:
  /// `before` runs the defaults; choices go by the position of a task in `tasks`. Both must outlive the runner, and so
  /// must the inputs.
  SessionRunner(const Session& before, std::span<const Tensor> inputs, std::vector<TuningTask> tasks,
                SessionRunnerOptions options);

  ModelRun run(const Choices& choices, const ModelRunOptions& options) override;
  double last_run_s() const { return last_run_s_; }  // planning included; 0 before the first
  /// The session of the last run.
  Session take_session() { return std::move(after_).value(); }

 private:
  Session make_session(const Choices& choices) const;
  ModelRun compare(const Choices& choices, double seconds);

  const Session& before_;
  std::span<const Tensor> inputs_;
  std::vector<TuningTask> tasks_;
  SessionRunnerOptions options_;
  Choices made_;  // what after_ has
  std::optional<Session> after_;
  uint64_t runs_ = 0;
  double last_run_s_ = 0;
};

}  // namespace attune
