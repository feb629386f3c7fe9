#include "job/judge_alone.h"

#include "providers/providers.h"
#include "runtime/bank_advisor.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr size_t kFinalists = 3;
constexpr double kWorthAFinal = 0.02;  // ln: what seems faster by less is left alone

void set_ratio(TaskResult& task, const tune::Trial& trial, const Ratio& ratio) {
  task.ratio = 1 / ratio.value;
  task.ratio_interval = {1 / ratio.high, 1 / ratio.low};
  task.verdict = ratio.high < 1 ? "faster" : ratio.low > 1 ? "slower" : "tie";
  if (ratio.high < 1) task.winner = trial;
}

/// False when earlier finals, whose records recall() found, did not judge what seems best now.
bool apply_earlier(OpatJob& job, size_t i, const tune::Trial& best) {
  TaskResult& task = job.result.tasks[i];
  const Record* winner = nullptr;
  bool best_was_judged = false;
  for (const Record& record : job.result.records) {
    if (!was_judged_alone(record) || record.key.workload != task.task.key) continue;
    best_was_judged = best_was_judged || (record.provider == best.provider && record.config == best.config);
    if (winner == nullptr || record.ratio->high < winner->ratio->high) winner = &record;
  }
  if (!best_was_judged) return false;
  set_ratio(task, {winner->provider, winner->config}, *winner->ratio);
  return true;
}

void take_winner(OpatJob& job, size_t i, const tune::Finals& finals, const std::vector<TriedConfig>& best) {
  TaskResult& task = job.result.tasks[i];
  if (!finals.problem.empty()) {
    task.verdict = "unresolved: " + finals.problem;
    return;
  }
  task.default_ns = finals.default_ns;
  const tune::Finalist* shown = &finals.finalists.front();
  const auto is_faster = [](const tune::Finalist& finalist) {
    return finalist.outcome == Outcome::ok && finalist.judgement.verdict == tune::Verdict::faster;
  };
  for (size_t f = 0; f < finals.finalists.size(); ++f) {
    const tune::Finalist& finalist = finals.finalists[f];
    job.keep(finalist_record(task.task.workload, job.threads, finalist, best[f].max_error,
                             require_provider(finalist.trial.provider), job.source));
    if (!is_faster(finalist)) continue;
    if (!is_faster(*shown) || finalist.judgement.log_ratio < shown->judgement.log_ratio) shown = &finalist;
  }
  const tune::Judgement& judgement = shown->judgement;
  set_ratio(
      task, shown->trial,
      {std::exp(judgement.log_ratio), std::exp(judgement.log_interval.low), std::exp(judgement.log_interval.high)});
  task.verdict = tune::verdict_name(judgement.verdict);
  if (!is_faster(*shown)) task.winner.reset();
  job.emit({{"event", "final"},
            {"task", i},
            {"op", task.task.op},
            {"trial", trial_json(shown->trial)},
            {"verdict", task.verdict},
            {"ratio", task.ratio},
            {"low", task.ratio_interval.low},
            {"high", task.ratio_interval.high},
            {"rounds", finals.rounds},
            {"noise_floor", finals.noise_floor}});
}

void judge_one(OpatJob& job, size_t i, double seconds) {
  const std::vector<TriedConfig> best = job.searches[i].best(kFinalists, kWorthAFinal);
  const TuningTask& task = job.searches[i].task();
  std::vector<tune::Trial> trials;
  for (const TriedConfig& tried : best) trials.push_back(tried.trial);
  tune::FinalsOptions options;
  options.budget = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  const tune::Finals finals =
      job.measurer().finals({task.workload, task.contents}, job.searches[i].default_trial(), trials, options);
  take_winner(job, i, finals, best);
}

}  // namespace

void judge_alone(OpatJob& job) {
  struct Open {
    size_t task;
    double saved_ms;
  };
  std::vector<Open> open;
  double all_ms = 0;
  for (size_t i = 0; i < job.searches.size(); ++i) {
    TaskResult& task = job.result.tasks[i];
    const std::vector<TriedConfig> best = job.searches[i].best(kFinalists, kWorthAFinal);
    if (job.searches[i].tried().size() > 1 && task.verdict == "not tried") task.verdict = "tie";
    if (best.empty() || apply_earlier(job, i, best.front().trial)) continue;
    task.verdict = "unresolved";
    open.push_back({i, task.task.run_ms * -std::expm1(best.front().log_ratio)});
    all_ms += open.back().saved_ms;
  }
  std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.saved_ms > b.saved_ms; });
  for (const Open& one : open) {
    if (!job.clock.has_time()) return;
    constexpr double kLeast = 0.3, kMost = 5;  // seconds
    const double share = all_ms > 0 ? one.saved_ms / all_ms : 1;
    judge_one(job, one.task, std::clamp(job.clock.left_s() * share, kLeast, kMost));
    all_ms -= one.saved_ms;
  }
}

}  // namespace attune
