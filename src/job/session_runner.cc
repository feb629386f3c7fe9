#include "job/session_runner.h"

#include "job/check_outputs.h"

#include <chrono>

namespace attune {

SessionRunner::SessionRunner(const Session& before, std::span<const Tensor> inputs, std::vector<TuningTask> tasks,
                             SessionRunnerOptions options)
    : before_(before), inputs_(inputs), tasks_(std::move(tasks)), options_(std::move(options)) {}

Session SessionRunner::make_session(const Choices& choices) const {
  std::map<std::string, Advice> advice;
  for (const auto& [task, trial] : choices)
    advice[tasks_.at(task).key] = {trial.provider, trial.config, options_.reason(task, trial)};
  SessionOptions options = options_.session;
  options.advisor = std::make_shared<const AdviceList>(std::move(advice));
  options.rewrite = false;  // the graph is that of a session
  return Session(Graph(before_.graph()), std::move(options));
}

ModelRun SessionRunner::run(const Choices& choices, const ModelRunOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  if (!after_ || made_ != choices || options.placement == Placement::fresh) {
    std::optional<Session> old = std::move(after_);
    // A new placement needs the memory of the old session to be taken; another choice does not.
    if (made_ != choices) old.reset();
    after_ = make_session(choices);
    made_ = choices;
    after_->plan(inputs_);
  }
  ModelRun result = compare(choices, options.seconds);
  last_run_s_ = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

ModelRun SessionRunner::compare(const Choices& choices, double seconds) {
  ModelRun result;
  if (const auto problem = check_outputs(before_, *after_, inputs_)) {
    result.problem = *problem;
    return result;
  }
  CompareOptions options;
  options.seconds = seconds;
  options.seed = options_.seed + runs_++;
  options.stop = options_.stop;
  result.whole = compare_sessions(before_, *after_, inputs_, options);
  if (result.whole.before_ms.empty()) {
    result.problem = "it was stopped before anything was measured";
    return result;
  }
  const auto before = before_.plan(inputs_), after = after_->plan(inputs_);
  std::vector<std::string> keys;
  for (const auto& [task, trial] : choices) keys.push_back(tasks_.at(task).key);
  const std::vector<ChangedRegion> regions = changed_regions(*before, *after, keys);
  const std::vector<ChangeEffect> effects = change_effects(result.whole, regions);
  size_t position = 0;
  for (const auto& [task, trial] : choices) result.effects[task] = effects[position++];
  result.noise = noise_between(result.whole, untouched_steps(*before, *after, regions));
  return result;
}

}  // namespace attune
