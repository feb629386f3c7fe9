#include "job/pair_runner.h"

#include <chrono>

namespace attune {

ModelRun PairRunner::run(const Choices& choices, const ModelRunOptions& options) {
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

ModelRun PairRunner::compare(const Choices& choices, double seconds) {
  ModelRun result;
  result.outputs = check_outputs(before_, *after_, inputs_);
  result.problem = result.outputs.problem;
  if (!result.problem.empty()) return result;
  CompareOptions options;
  options.seconds = seconds;
  options.metric = options_.metric;
  options.seed = options_.seed + runs_++;
  options.stop = options_.stop;
  result.whole = compare_sessions(before_, *after_, inputs_, options);
  if (result.whole.before_ms.empty()) {
    result.problem = "it was stopped before anything was measured";
    return result;
  }
  const auto before = before_.plan(inputs_), after = after_->plan(inputs_);
  const std::vector<ChangedRegion> regions = regions_of(choices, *before, *after);
  const std::vector<ChangeEffect> effects = change_effects(result.whole, regions);
  size_t position = 0;
  for (const auto& [task, trial] : choices) result.effects[task] = effects[position++];
  result.noise = noise_between(result.whole, untouched_steps(*before, *after, regions));
  return result;
}

}  // namespace attune
