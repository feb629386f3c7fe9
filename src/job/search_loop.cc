#include "job/search_loop.h"

#include "job/nearest.h"
#include "providers/providers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBatch = 6;                // candidates between two looks at which task promises most
constexpr double kLeastPromise = 0.002;  // of a run: what could be gained from a task at best, under which it is left
constexpr double kLeastCuriosity = 0.0005;  // the same for those of whom nothing is known, or who have a tip

class SearchLoop {
 public:
  SearchLoop(OpatJob& job, double until_s) : job_(job), until_s_(until_s) {}

  SearchEnd run() {
    // A first batch for everybody, then whoever promises most.
    for (size_t i = 0; i < job_.searches.size() && goes_on(); ++i)
      if (is_open(i) && job_.result.tasks[i].measured == 0) job_.is_over[i] = !step(i);
    while (goes_on()) {
      const auto next = most_promising();
      if (!next) return SearchEnd::nothing_promises;
      job_.is_over[*next] = !step(*next);
    }
    return most_promising() ? SearchEnd::limit : SearchEnd::nothing_promises;
  }

 private:
  bool has_time() const { return !job_.clock.stopped() && job_.clock.seconds() < until_s_; }
  bool goes_on() const { return has_time() && job_.has_trials(); }
  bool is_open(size_t i) const {
    const double least = job_.searches[i].is_curious() ? kLeastCuriosity : kLeastPromise;
    return !job_.is_over[i] && job_.searches[i].promise_ms() > least * job_.run_ms;
  }

  std::optional<size_t> most_promising() const {
    std::optional<size_t> next;
    for (size_t i = 0; i < job_.searches.size(); ++i)
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
    control.should_stop = [&] { return !has_time(); };
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
    share_best(i);
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

  /// What is good for one workload is worth a try for those like it.
  void share_best(size_t i) {
    constexpr double kWorthSharing = 0.03;  // ln
    const auto best = job_.searches[i].best(1, kWorthSharing);
    if (best.empty()) return;
    for (size_t other = 0; other < job_.searches.size(); ++other) {
      const auto distance = workload_distance(job_.searches[i].task().workload, job_.searches[other].task().workload);
      if (other != i && distance && *distance < kNear && job_.searches[other].suggest(best.front().trial))
        job_.is_over[other] = false;
    }
  }

  OpatJob& job_;
  double until_s_;
};

}  // namespace

SearchEnd search_tasks(OpatJob& job, double until_s) { return SearchLoop(job, until_s).run(); }

}  // namespace attune
