#include "job/model_judge.h"

#include <algorithm>
#include <cmath>

namespace attune {

using tune::Verdict;

ModelJudge::ModelJudge(ModelRunner& runner, ModelJudgeOptions options)
    : runner_(runner), options_(std::move(options)) {}

void ModelJudge::recall(size_t task, const tune::Trial& trial, const ModelVerdict& verdict) {
  verdicts_[{task, trial}] = verdict;
  accept_best(task);
}

const ModelVerdict* ModelJudge::find(size_t task, const tune::Trial& trial) const {
  const auto found = verdicts_.find({task, trial});
  return found == verdicts_.end() ? nullptr : &found->second;
}

double ModelJudge::expected_ratio(const Choices& choices) const {
  if (run_ms_ <= 0) return 1;
  double saved = 0;
  for (const auto& [task, trial] : choices) saved += find(task, trial)->effect.median_saved_ms();
  return run_ms_ / std::max(run_ms_ - saved, 0.01 * run_ms_);
}

Verdict ModelJudge::verdict_on(const ChangeEffect& effect, double noise) const {
  constexpr size_t kLeastRounds = 6;  // fewer cannot have that confidence, however they fall
  if (effect.rounds() < kLeastRounds) return Verdict::unresolved;
  const double band = std::max(options_.tie_band, noise);
  const Interval interval = effect.ratio_interval(options_.confidence);
  if (interval.low > 1) return Verdict::slower;
  if (std::log(effect.ratio()) >= -band) return Verdict::tie;
  return interval.high < 1 ? Verdict::faster : Verdict::unresolved;
}

void ModelJudge::accept_best(size_t task) {
  accepted_.erase(task);
  const ModelVerdict* best = nullptr;
  for (const auto& [key, verdict] : verdicts_) {
    if (key.first != task || verdict.verdict != Verdict::faster) continue;
    if (best != nullptr && verdict.effect.ratio() >= best->effect.ratio()) continue;
    best = &verdict;
    accepted_[task] = key.second;
  }
}

void ModelJudge::learn(const Choices& choices, const ModelRun& run) {
  const double noise = run.noise.value_or(0);
  noise_ = std::max(noise_, noise);
  run_ms_ = median_of(run.whole.before_ms);
  for (const auto& [task, effect] : run.effects) {
    const tune::Trial& trial = choices.at(task);
    ModelVerdict& known = verdicts_[{task, trial}];
    known.effect.add(effect);
    ++known.runs;
    known.outputs.max_error = std::max(known.outputs.max_error, run.outputs.max_error);
    known.outputs.tolerance = run.outputs.tolerance;
    known.verdict = verdict_on(known.effect, noise);
    accept_best(task);
    options_.on_verdict(task, trial, known);
  }
}

ModelRun ModelJudge::judge(const Choices& proposals, double seconds) {
  Choices choices = accepted_;
  for (const auto& [task, trial] : proposals) choices[task] = trial;
  return judge_exactly(choices, seconds);
}

ModelRun ModelJudge::judge_exactly(const Choices& proposals, double seconds) {
  if (proposals.empty()) return {};
  ModelRun run = runner_.run(proposals, {seconds, Placement::any});
  if (run.problem.empty()) learn(proposals, run);
  return run;
}

Choices ModelJudge::rivals() const {
  Choices found;
  for (const auto& [task, trial] : accepted_) {
    const double worst = find(task, trial)->effect.ratio_interval(options_.confidence).high;
    const ModelVerdict* rival = nullptr;
    for (const auto& [key, verdict] : verdicts_) {
      if (key.first != task || key.second == trial || verdict.verdict != Verdict::faster) continue;
      if (verdict.effect.ratio_interval(options_.confidence).low > worst) continue;
      if (rival != nullptr && rival->effect.rounds() <= verdict.effect.rounds()) continue;
      rival = &verdict;
      found[task] = key.second;
    }
  }
  return found;
}

bool ModelJudge::tell_rivals_apart(double seconds) {
  const Choices others = rivals();
  if (others.empty()) return false;
  return judge(others, seconds).problem.empty() && judge({}, seconds).problem.empty();
}

bool ModelJudge::is_faster(const SessionComparison& whole) const {
  return whole.faster() && whole.ratio > 1 + options_.least_gain;
}

Choices ModelJudge::without_doubtful(const Choices& choices) const {
  struct Doubt {
    size_t task;
    double ratio_high;
  };
  std::vector<Doubt> order;
  Choices kept;
  for (const auto& [task, trial] : choices) {
    const ModelVerdict* verdict = find(task, trial);
    if (verdict->verdict != Verdict::faster) continue;
    kept.emplace(task, trial);
    order.push_back({task, verdict->effect.ratio_interval(options_.confidence).high});
  }
  if (kept.size() < choices.size()) return kept;
  std::stable_sort(order.begin(), order.end(),
                   [](const Doubt& a, const Doubt& b) { return a.ratio_high < b.ratio_high; });
  for (size_t i = order.size() / 2; i < order.size(); ++i) kept.erase(order[i].task);
  return kept;
}

bool ModelJudge::confirm(const Choices& choices, double seconds_a_run, ModelConclusion& conclusion) {
  constexpr int kMostRuns = 5;
  conclusion.comparison.reset();
  for (int i = 0; i < kMostRuns; ++i) {
    // Each time elsewhere in memory: luck with the placement must not decide.
    const ModelRun run = runner_.run(choices, {seconds_a_run, i == 0 ? Placement::any : Placement::fresh});
    conclusion.problem = run.problem;
    if (!run.problem.empty()) return false;
    if (conclusion.comparison)
      conclusion.comparison->add(run.whole);
    else
      conclusion.comparison = run.whole;
    learn(choices, run);
    const SessionComparison& all = *conclusion.comparison;
    if (all.ratio <= 1 + options_.least_gain) return false;
    if (i > 0 && run.whole.ratio > 1 && is_faster(all)) return true;
    // A run that won has its second one reserved; what is doubtful goes on while there is time to spare.
    const bool is_reserved = i == 0 && is_faster(all);
    if (!is_reserved && !options_.has_time()) return false;
  }
  return false;
}

ModelConclusion ModelJudge::conclude(double seconds_a_run) {
  ModelConclusion conclusion;
  for (Choices choices = accepted_; !choices.empty(); choices = without_doubtful(choices)) {
    if (conclusion.comparison && !options_.has_time()) break;
    if (!confirm(choices, seconds_a_run, conclusion)) continue;
    conclusion.choices = choices;
    break;
  }
  accepted_ = conclusion.choices;
  return conclusion;
}

}  // namespace attune
