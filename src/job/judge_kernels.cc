#include "job/judge_kernels.h"

#include "providers/providers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr size_t kFinalists = 3;
constexpr double kWorthAFinal = 0.02;  // ln: what seems faster by less is left alone

struct LogRatio {
  double value;
  Interval interval;
};

void set_winner(TaskResult& task, const tune::Trial& trial, const LogRatio& ratio) {
  task.ratio = std::exp(-ratio.value);
  task.ratio_interval = {std::exp(-ratio.interval.high), std::exp(-ratio.interval.low)};
  task.verdict = ratio.interval.high < 0 ? "faster" : ratio.interval.low > 0 ? "slower" : "tie";
  if (ratio.interval.high < 0) task.winner = trial;
}

/// False when the bank has no verdict on what seems best now.
bool apply_judged(OpatJob& job, size_t i, const std::map<size_t, std::vector<Record>>& judged,
                  const TriedConfig& best) {
  const auto found = judged.find(i);
  if (found == judged.end()) return false;
  const Record* winner = nullptr;
  bool best_was_judged = false;
  for (const Record& record : found->second) {
    best_was_judged = best_was_judged || (record.provider == best.trial.provider && record.config == best.trial.config);
    if (winner == nullptr || record.ratio->high < winner->ratio->high) winner = &record;
  }
  if (!best_was_judged) return false;
  set_winner(job.result.tasks[i], {winner->provider, winner->config},
             {std::log(winner->ratio->value), {std::log(winner->ratio->low), std::log(winner->ratio->high)}});
  return true;
}

void take_winner(OpatJob& job, size_t i, const tune::Finals& finals, const std::vector<TriedConfig>& best) {
  TaskResult& task = job.result.tasks[i];
  if (!finals.problem.empty()) {
    task.verdict = "unresolved: " + finals.problem;
    return;
  }
  task.default_ns = finals.default_ns;
  const tune::Finalist* winner = nullptr;
  for (size_t f = 0; f < finals.finalists.size(); ++f) {
    const tune::Finalist& finalist = finals.finalists[f];
    job.keep(finalist_record(task.task.workload, job.threads, finalist, best[f].max_error,
                             require_provider(finalist.trial.provider), job.source));
    if (finalist.outcome != Outcome::ok || finalist.judgement.verdict != tune::Verdict::faster) continue;
    if (winner == nullptr || finalist.judgement.log_ratio < winner->judgement.log_ratio) winner = &finalist;
  }
  const tune::Finalist& shown = winner != nullptr ? *winner : finals.finalists.front();
  set_winner(task, shown.trial, {shown.judgement.log_ratio, shown.judgement.log_interval});
  task.verdict = tune::verdict_name(shown.judgement.verdict);
  if (winner == nullptr) task.winner.reset();
  job.emit({{"event", "final"},
            {"task", i},
            {"op", task.task.op},
            {"trial", trial_json(shown.trial)},
            {"verdict", task.verdict},
            {"ratio", task.ratio},
            {"low", task.ratio_interval.low},
            {"high", task.ratio_interval.high},
            {"rounds", finals.rounds},
            {"noise_floor", finals.noise_floor}});
}

void judge_one(OpatJob& job, size_t i, double seconds) {
  const std::vector<TriedConfig> best = job.searches[i].best(kFinalists, kWorthAFinal);
  std::vector<tune::Trial> trials;
  for (const TriedConfig& tried : best) trials.push_back(tried.trial);
  tune::FinalsOptions finals;
  finals.budget = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
  take_winner(job, i,
              job.measurer().finals({job.searches[i].task().workload, job.searches[i].task().contents},
                                    job.searches[i].default_trial(), trials, finals),
              best);
}

}  // namespace

void judge_kernels(OpatJob& job, const std::map<size_t, std::vector<Record>>& judged, double budget_share) {
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
    if (best.empty() || apply_judged(job, i, judged, best.front())) continue;
    task.verdict = "unresolved";
    open.push_back({i, task.task.run_ms * -std::expm1(best.front().log_ratio)});
    all_ms += open.back().saved_ms;
  }
  std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.saved_ms > b.saved_ms; });
  for (const Open& one : open) {
    if (!job.clock.has_time(budget_share)) return;
    constexpr double kLeast = 0.3, kMost = 5;  // seconds
    judge_one(job, one.task, std::clamp(job.clock.left_s(budget_share) * one.saved_ms / all_ms, kLeast, kMost));
    all_ms -= one.saved_ms;
  }
}

}  // namespace attune
