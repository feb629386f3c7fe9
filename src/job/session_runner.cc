#include "job/session_runner.h"

namespace attune {

SessionRunner::SessionRunner(const Session& before, std::span<const Tensor> inputs, std::vector<TuningTask> tasks,
                             SessionRunnerOptions options)
    : PairRunner(before, inputs, static_cast<const PairRunnerOptions&>(options)),
      tasks_(std::move(tasks)),
      reason_(std::move(options.reason)) {}

Session SessionRunner::make_session(const Choices& choices) const {
  std::map<std::string, Advice> advice;
  for (const auto& [task, trial] : choices)
    advice[tasks_.at(task).key] = {trial.provider, trial.config, reason_(task, trial)};
  SessionOptions options = session_options();
  options.advisor = std::make_shared<const AdviceList>(std::move(advice));
  options.rewrite = false;  // the graph is that of a session
  return Session(Graph(before().graph()), std::move(options));
}

std::vector<ChangedRegion> SessionRunner::regions_of(const Choices& choices, const Plan& before,
                                                     const Plan& after) const {
  std::vector<std::string> keys;
  for (const auto& [task, trial] : choices) keys.push_back(tasks_.at(task).key);
  return changed_regions(before, after, keys);
}

}  // namespace attune
