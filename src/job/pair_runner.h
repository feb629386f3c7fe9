// Runs a model in two ways side by side: as it is by default, and with a choice made otherwise.
#pragma once

#include "job/job_options.h"
#include "job/model_judge.h"
#include "job/plan_regions.h"

#include <functional>

namespace attune {

struct PairRunnerOptions {
  SessionOptions session;  // of the default session
  uint64_t seed = 1;
  Metric metric = Metric::latency;
  std::function<bool()> stop = [] { return false; };
};

inline PairRunnerOptions runner_options(const JobOptions& job) { return {job.session, job.seed, job.metric, job.stop}; }

class PairRunner : public ModelRunner {
 public:
  ModelRun run(const Choices& choices, const ModelRunOptions& options) override;
  double last_run_s() const { return last_run_s_; }  // planning included; 0 before the first
  /// The session of the last run.
  Session take_session() { return std::move(after_).value(); }

 protected:
  /// `before` is the default; it must outlive the runner, and so must the inputs.
  PairRunner(const Session& before, std::span<const Tensor> inputs, PairRunnerOptions options)
      : before_(before), inputs_(inputs), options_(std::move(options)) {}

  virtual Session make_session(const Choices& choices) const = 0;
  /// One for each choice, in their order.
  virtual std::vector<ChangedRegion> regions_of(const Choices& choices, const Plan& before,
                                                const Plan& after) const = 0;
  const Session& before() const { return before_; }
  const SessionOptions& session_options() const { return options_.session; }

 private:
  ModelRun compare(const Choices& choices, double seconds);

  const Session& before_;
  std::span<const Tensor> inputs_;
  PairRunnerOptions options_;
  Choices made_;  // what after_ has
  std::optional<Session> after_;
  uint64_t runs_ = 0;
  double last_run_s_ = 0;
};

}  // namespace attune
