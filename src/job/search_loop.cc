#include "job/search_loop.h"

#include "providers/providers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBatch = 6;                // candidates between two looks at which task promises most
constexpr double kLeastPromise = 0.002;  // of a run: what could be gained from a task at best, under which it is left

class SearchLoop {
 public:
  SearchLoop(OpatJob& job, double budget_share) : job_(job), share_(budget_share), over_(job.searches.size()) {
    for (size_t i = 0; i < over_.size(); ++i) over_[i] = !job_.searches[i].has_alternatives();
  }

  void run() {
    // A first batch for everybody, then whoever promises most.
    for (size_t i = 0; i < over_.size() && goes_on(); ++i)
      if (is_open(i)) over_[i] = !step(i);
    while (goes_on()) {
      const auto next = most_promising();
      if (!next) return;
      over_[*next] = !step(*next);
    }
    if (job_.clock.stopped())
      job_.result.end = JobEnd::interrupted;
    else if (std::find(over_.begin(), over_.end(), false) != over_.end())
      job_.result.end = JobEnd::budget_spent;
  }

 private:
  bool goes_on() const { return job_.clock.has_time(share_) && job_.has_trials(); }
  bool is_open(size_t i) const { return !over_[i] && job_.searches[i].promise_ms() > kLeastPromise * job_.run_ms; }

  std::optional<size_t> most_promising() const {
    std::optional<size_t> next;
    for (size_t i = 0; i < over_.size(); ++i)
      if (is_open(i) && (!next || job_.searches[i].promise_ms() > job_.searches[*next].promise_ms())) next = i;
    return next;
  }

  /// Measures a batch of one task. False when it has nothing more to try.
  bool step(size_t i) {
    TaskSearch& search = job_.searches[i];
    int count = kBatch;
    if (job_.options.most_trials > 0 && job_.worker)
      count = static_cast<int>(std::min<int64_t>(count, job_.options.most_trials - job_.worker->counts().trials));
    const std::vector<tune::Trial> trials = search.next(std::max(1, count));
    if (trials.empty()) return false;
    const TuningTask& task = search.task();
    tune::LadderOptions ladder;
    const auto best = search.best(1, 0);
    if (!best.empty()) ladder.best_log_ratio = best[0].log_ratio;
    tune::MeasureControl control;
    control.should_stop = [&] { return !job_.clock.has_time(share_); };
    control.on_result = [&](size_t at, const tune::TrialResult& trial) { on_trial(i, trials.at(at), trial); };
    const tune::Measurement measured =
        job_.measurer().measure({task.workload, task.contents}, search.default_trial(), trials, ladder, control);
    TaskResult& result = job_.result.tasks[i];
    if (measured.anchor.outcome != Outcome::ok) {
      result.verdict = "the default cannot be measured: " + measured.anchor.message;
      job_.emit({{"event", "task_failed"}, {"workload", task.key}, {"reason", measured.anchor.message}});
      return false;
    }
    result.default_ns = measured.anchor.time_ns();
    result.roofline_ns = measured.anchor.roofline_ns;
    search.set_roofline_ns(measured.anchor.roofline_ns, measured.anchor.time_ns());
    return true;
  }

  void on_trial(size_t i, const tune::Trial& trial, const tune::TrialResult& measured) {
    TaskSearch& search = job_.searches[i];
    job_.keep(trial_record(search.task().workload, job_.threads, trial, measured, require_provider(trial.provider),
                           job_.source));
    TriedConfig tried;
    tried.trial = trial;
    tried.outcome = measured.outcome;
    tried.log_ratio = measured.log_ratio();
    tried.time_ns = measured.time_ns();
    tried.max_error = measured.max_error;
    search.tell(tried);
    ++job_.result.tasks[i].measured;
    job_.result.convergence.push_back({job_.clock.seconds(), expected_ms()});
    Json event{{"event", "trial"},
               {"task", i},
               {"op", search.task().op},
               {"trial", trial_json(trial)},
               {"outcome", outcome_name(measured.outcome)}};
    if (measured.outcome == Outcome::ok) {
      event["ratio"] = std::exp(-measured.log_ratio());
      event["time_ns"] = measured.time_ns();
      event["max_error"] = measured.max_error;
    } else {
      event["message"] = measured.message;
    }
    job_.emit(std::move(event));
  }

  /// Of a run, with the best of every task.
  double expected_ms() const {
    double total = 0;
    for (const TaskSearch& search : job_.searches) {
      const auto best = search.best(1, 0);
      total += search.task().run_ms * (best.empty() ? 1 : std::exp(best.front().log_ratio));
    }
    return total;
  }

  OpatJob& job_;
  double share_;
  std::vector<bool> over_;  // by task: nothing is left to try
};

}  // namespace

void search_tasks(OpatJob& job, double budget_share) { SearchLoop(job, budget_share).run(); }

}  // namespace attune
