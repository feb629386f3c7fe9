#include "job/opat.h"

#include "base/parallel.h"
#include "base/thread_count_scope.h"
#include "job/check_outputs.h"
#include "job/trial_record.h"
#include "providers/providers.h"
#include "runtime/bank_advisor.h"
#include "tune/search/make_searcher.h"
#include "tune/search/mode.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

// Shares of the budget: the search stops early enough that its winners can be judged, alone and in the model.
constexpr double kSearchShare = 0.65, kFinalsShare = 0.88;
constexpr int kBatch = 6;  // candidates between two looks at which task promises most
constexpr size_t kFinalists = 3;
constexpr double kWorthAFinal = 0.02;    // ln: what seems faster by less is left alone
constexpr double kLeastPromise = 0.002;  // of a run: what could be gained from a task at best, under which it is left

std::vector<const Provider*> providers_of(const SessionOptions& options) {
  std::vector<const Provider*> list;
  for (const std::string& name : options.providers) list.push_back(&require_provider(name));
  if (list.empty()) list.assign(providers().begin(), providers().end());
  return list;
}

Json trial_json(const tune::Trial& trial) { return {{"provider", trial.provider}, {"config", trial.config}}; }

/// One run of the job. Everything that it does goes through here in order; see run().
class Job {
 public:
  Job(const OpatOptions& options, const Session& session, std::span<const Tensor> inputs)
      : options_(options), inputs_(inputs), begin_(Clock::now()), threads_(thread_count()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    source_.measured_at = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    source_.session = fmt::format("opat-{}-{}", source_.measured_at, getpid());
    for (TaskSearch& search : plan_opat(session, inputs, options)) {
      TaskResult result;
      result.task = search.task();
      result.space = search.space_text();
      result.space_size = search.space_size();
      result.verdict = search.has_alternatives() ? "not tried" : "one implementation";
      result_.tasks.push_back(std::move(result));
      searches_.push_back(std::move(search));
    }
    for (const TaskResult& task : result_.tasks) run_ms_ += task.task.run_ms;
  }

  TuningResult& result() { return result_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  bool stopped() const { return options_.stop(); }

  /// Everything but the whole model: searches, then judges what seems faster.
  void run() {
    emit_begin();
    recall();
    search();
    judge_all();
    for (size_t i = 0; i < searches_.size(); ++i) result_.tasks[i].tried = searches_[i].tried();
    if (measurer_) {
      result_.trials = measurer_->counts().trials;
      result_.failed_trials = measurer_->counts().failed_trials;
      result_.noise_floor = measurer_->noise_floor().value_or(0);
      result_.ceilings = measurer_->ceilings();
    }
  }

  std::shared_ptr<const Advisor> advisor() const {
    std::map<std::string, Advice> advice;
    for (const TaskResult& task : result_.tasks)
      if (task.winner)
        advice[task.task.key] = {
            task.winner->provider, task.winner->config,
            fmt::format("measured {:.2f}x ({:.2f} to {:.2f}) as fast as the default of {}", task.ratio,
                        task.ratio_interval.low, task.ratio_interval.high, task.task.provider)};
    return advice.empty() ? nullptr : std::make_shared<const AdviceList>(std::move(advice));
  }

  void emit(Json event) {
    event["t"] = std::round(seconds() * 1000) / 1000;
    options_.on_event(event);
  }

 private:
  tune::Measurer& measurer() {
    if (!measurer_) {
      tune::MeasurerOptions options = options_.measurer;
      options.seed = options_.seed;
      if (options.threads == 0) options.threads = threads_;
      measurer_.emplace(options);
    }
    return *measurer_;
  }
  const Provider& provider(const tune::Trial& trial) const { return require_provider(trial.provider); }
  /// Saved before anything else happens: whatever ends this process, the trial is not lost.
  void keep(const Record& record) {
    if (options_.bank != nullptr) options_.bank->add(record);
    result_.records.push_back(record);
  }

  void emit_begin() {
    Json tasks = Json::array();
    for (const TaskResult& task : result_.tasks)
      tasks.push_back({{"workload", task.task.key},
                       {"nodes", task.task.nodes.size()},
                       {"run_ms", task.task.run_ms},
                       {"space", task.space}});
    emit({{"event", "begin"}, {"budget_s", options_.budget_s}, {"run_ms", run_ms_}, {"tasks", tasks}});
  }

  /// What is in the bank is not measured again: failures and losers are skipped, winners win.
  void recall() {
    if (options_.bank == nullptr) return;
    for (size_t i = 0; i < searches_.size(); ++i) {
      const TuningTask& task = searches_[i].task();
      std::map<tune::Trial, const Record*> latest;
      const std::vector<Record> records = options_.bank->find(bank_key(task.workload, threads_));
      for (const Record& record : records) {
        const auto* known = find_provider(record.provider);
        if (known == nullptr || known->environment() != record.environment) continue;
        if (record.outcome == Outcome::infrastructure) continue;
        auto& slot = latest[{record.provider, record.config}];
        if (slot == nullptr || record.samples_ns.size() > slot->samples_ns.size()) slot = &record;
      }
      for (const auto& [trial, record] : latest) {
        if (trial == searches_[i].default_trial()) continue;
        TriedConfig tried;
        tried.trial = trial;
        tried.outcome = record->outcome;
        tried.log_ratio = record->ratio ? std::log(record->ratio->value) : 0;
        tried.max_error = record->max_error.value_or(0);
        tried.from_bank = true;
        searches_[i].tell(tried);
        ++result_.reused_trials;
        result_.records.push_back(*record);
        if (is_final(*record)) judged_[i].push_back(*record);
      }
    }
  }
  const Provider* find_provider(const std::string& name) const {
    for (const Provider* one : providers_of(options_.session))
      if (one->name() == name) return one;
    return nullptr;
  }

  bool has_time(double share) const { return !stopped() && seconds() < options_.budget_s * share; }
  bool has_trials() const {
    return options_.most_trials == 0 || !measurer_ || measurer_->counts().trials < options_.most_trials;
  }

  void search() {
    std::vector<bool> over(searches_.size());
    for (size_t i = 0; i < searches_.size(); ++i) over[i] = !searches_[i].has_alternatives();
    // A first batch for everybody, then whoever promises most.
    for (size_t i = 0; i < searches_.size() && has_time(kSearchShare) && has_trials(); ++i)
      if (!over[i] && worth(i)) over[i] = !step(i);
    while (has_time(kSearchShare) && has_trials()) {
      size_t next = searches_.size();
      for (size_t i = 0; i < searches_.size(); ++i)
        if (!over[i] && worth(i) &&
            (next == searches_.size() || searches_[i].promise_ms() > searches_[next].promise_ms()))
          next = i;
      if (next == searches_.size()) return;
      over[next] = !step(next);
    }
    if (stopped())
      result_.end = JobEnd::interrupted;
    else if (std::find(over.begin(), over.end(), false) != over.end())
      result_.end = JobEnd::budget_spent;
  }

  bool worth(size_t i) const { return searches_[i].promise_ms() > kLeastPromise * run_ms_; }

  /// Measures a batch of one task. False when it has nothing more to try.
  bool step(size_t i) {
    TaskSearch& search = searches_[i];
    int count = kBatch;
    if (options_.most_trials > 0 && measurer_)
      count = static_cast<int>(std::min<int64_t>(count, options_.most_trials - measurer_->counts().trials));
    const std::vector<tune::Trial> trials = search.next(std::max(1, count));
    if (trials.empty()) return false;
    const TuningTask& task = search.task();
    tune::LadderOptions ladder;
    const auto best = search.best(1, 0);
    if (!best.empty()) ladder.best_log_ratio = best[0].log_ratio;
    tune::MeasureControl control;
    control.should_stop = [&] { return !has_time(kSearchShare); };
    control.on_result = [&](size_t at, const tune::TrialResult& trial) { on_trial(i, trials.at(at), trial); };
    const tune::Measurement measured =
        measurer().measure({task.workload, {}}, search.default_trial(), trials, ladder, control);
    if (measured.anchor.outcome != Outcome::ok) {
      result_.tasks[i].verdict = "the default cannot be measured: " + measured.anchor.message;
      emit({{"event", "task_failed"}, {"workload", task.key}, {"reason", measured.anchor.message}});
      return false;
    }
    result_.tasks[i].default_ns = measured.anchor.time_ns();
    result_.tasks[i].roofline_ns = measured.anchor.roofline_ns;
    search.set_roofline_ns(measured.anchor.roofline_ns, measured.anchor.time_ns());
    return true;
  }

  void on_trial(size_t i, const tune::Trial& trial, const tune::TrialResult& measured) {
    const TuningTask& task = searches_[i].task();
    TriedConfig tried;
    tried.trial = trial;
    tried.outcome = measured.outcome;
    tried.log_ratio = measured.log_ratio();
    tried.time_ns = measured.time_ns();
    tried.max_error = measured.max_error;
    keep(trial_record(task.workload, threads_, trial, measured, provider(trial), source_));
    searches_[i].tell(tried);
    ++result_.tasks[i].measured;
    result_.convergence.push_back({seconds(), expected_ms()});
    Json event{{"event", "trial"},
               {"task", i},
               {"op", task.op},
               {"trial", trial_json(trial)},
               {"outcome", outcome_name(measured.outcome)}};
    if (measured.outcome == Outcome::ok) {
      event["ratio"] = std::exp(-measured.log_ratio());
      event["time_ns"] = measured.time_ns();
      event["max_error"] = measured.max_error;
    } else {
      event["message"] = measured.message;
    }
    emit(std::move(event));
  }

  /// Of a run, with the best of every task.
  double expected_ms() const {
    double total = 0;
    for (const TaskSearch& search : searches_) {
      const auto best = search.best(1, 0);
      total += search.task().run_ms * (best.empty() ? 1 : std::exp(best.front().log_ratio));
    }
    return total;
  }

  /// Judges the best of each task against the default, unless the bank did already; those that save most first, each
  /// with its share of the time.
  void judge_all() {
    struct Open {
      size_t task;
      double saved_ms;
    };
    std::vector<Open> open;
    double all_ms = 0;
    for (size_t i = 0; i < searches_.size(); ++i) {
      const std::vector<TriedConfig> best = searches_[i].best(kFinalists, kWorthAFinal);
      if (searches_[i].tried().size() > 1 && result_.tasks[i].verdict == "not tried") result_.tasks[i].verdict = "tie";
      if (best.empty() || apply_judged(i, best.front())) continue;
      result_.tasks[i].verdict = "unresolved";
      open.push_back({i, searches_[i].task().run_ms * -std::expm1(best.front().log_ratio)});
      all_ms += open.back().saved_ms;
    }
    std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.saved_ms > b.saved_ms; });
    for (const Open& one : open) {
      if (!has_time(kFinalsShare)) return;
      constexpr double kLeast = 0.3, kMost = 5;  // seconds
      const double left = options_.budget_s * kFinalsShare - seconds();
      judge_one(one.task, std::clamp(left * one.saved_ms / all_ms, kLeast, kMost));
      all_ms -= one.saved_ms;
    }
  }

  void judge_one(size_t i, double seconds) {
    const std::vector<TriedConfig> best = searches_[i].best(kFinalists, kWorthAFinal);
    std::vector<tune::Trial> trials;
    for (const TriedConfig& tried : best) trials.push_back(tried.trial);
    tune::FinalsOptions finals;
    finals.budget = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
    take_winner(i, measurer().finals({searches_[i].task().workload, {}}, searches_[i].default_trial(), trials, finals),
                best);
  }

  bool apply_judged(size_t i, const TriedConfig& best) {
    const auto found = judged_.find(i);
    if (found == judged_.end()) return false;
    const Record* winner = nullptr;
    bool best_was_judged = false;
    for (const Record& record : found->second) {
      best_was_judged =
          best_was_judged || (record.provider == best.trial.provider && record.config == best.trial.config);
      if (winner == nullptr || record.ratio->high < winner->ratio->high) winner = &record;
    }
    if (!best_was_judged) return false;  // something new seems faster
    set_winner(i, {winner->provider, winner->config},
               {std::log(winner->ratio->value), {std::log(winner->ratio->low), std::log(winner->ratio->high)}});
    return true;
  }

  struct LogRatio {
    double value;
    Interval interval;
  };
  void set_winner(size_t i, const tune::Trial& trial, const LogRatio& ratio) {
    TaskResult& task = result_.tasks[i];
    task.ratio = std::exp(-ratio.value);
    task.ratio_interval = {std::exp(-ratio.interval.high), std::exp(-ratio.interval.low)};
    task.verdict = ratio.interval.high < 0 ? "faster" : ratio.interval.low > 0 ? "slower" : "tie";
    if (ratio.interval.high < 0) task.winner = trial;
  }

  void take_winner(size_t i, const tune::Finals& finals, const std::vector<TriedConfig>& best) {
    TaskResult& task = result_.tasks[i];
    if (!finals.problem.empty()) {
      task.verdict = "unresolved: " + finals.problem;
      return;
    }
    task.default_ns = finals.default_ns;
    const tune::Finalist* winner = nullptr;
    for (size_t f = 0; f < finals.finalists.size(); ++f) {
      const tune::Finalist& finalist = finals.finalists[f];
      keep(finalist_record(task.task.workload, threads_, finalist, best[f].max_error, provider(finalist.trial),
                           source_));
      if (finalist.outcome != Outcome::ok || finalist.judgement.verdict != tune::Verdict::faster) continue;
      if (winner == nullptr || finalist.judgement.log_ratio < winner->judgement.log_ratio) winner = &finalist;
    }
    const tune::Finalist& shown = winner != nullptr ? *winner : finals.finalists.front();
    set_winner(i, shown.trial, {shown.judgement.log_ratio, shown.judgement.log_interval});
    task.verdict = tune::verdict_name(shown.judgement.verdict);
    if (winner == nullptr) task.winner.reset();
    task.winner_ns = shown.time_ns;
    emit({{"event", "final"},
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

  const OpatOptions& options_;
  std::span<const Tensor> inputs_;
  Clock::time_point begin_;
  int threads_;
  RecordSource source_;
  std::vector<TaskSearch> searches_;
  TuningResult result_;
  double run_ms_ = 0;                             // of all tasks
  std::map<size_t, std::vector<Record>> judged_;  // by task: records of finals in the bank
  std::optional<tune::Measurer> measurer_;
};

/// Whether the whole model gains, and still computes what it did.
void judge_model(Job& job, const Session& before, const Session& after, std::span<const Tensor> inputs,
                 const OpatOptions& options) {
  TuningResult& result = job.result();
  const auto problem = check_outputs(before, after, inputs);
  if (problem) {
    result.conclusion = "the tuned plan was dropped: " + *problem;
    return;
  }
  CompareOptions compare;
  compare.seconds = std::clamp(options.budget_s - job.seconds(), 1.0, 10.0);
  compare.seed = options.seed;
  compare.stop = options.stop;
  result.comparison = compare_sessions(before, after, inputs, compare);
  result.applied = result.comparison->faster();
  result.conclusion =
      result.applied ? fmt::format("the tuned plan is {:.2f}x as fast ({:.2f} to {:.2f})", result.comparison->ratio,
                                   result.comparison->ratio_interval.low, result.comparison->ratio_interval.high)
                     : fmt::format(
                           "the default plan is kept: the tuned one is {:.2f}x as fast ({:.2f} to {:.2f}), which is "
                           "not faster beyond noise",
                           result.comparison->ratio, result.comparison->ratio_interval.low,
                           result.comparison->ratio_interval.high);
}

/// The search by name, or what a mode such as "RL,GA" has for the operator; empty: it is not tuned.
std::string algorithm_for(const std::string& name, const Workload& workload) {
  const auto names = tune::searcher_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  constexpr std::string_view kCubes[] = {"Conv", "ConvTranspose", "MatMul", "Gemm", "FusedConv", "FusedMatMul"};
  const bool cube = std::find(std::begin(kCubes), std::end(kCubes), workload.op) != std::end(kCubes);
  return std::string(
      tune::searcher_for(tune::parse_tune_mode(name), cube ? tune::OperatorKind::cube : tune::OperatorKind::vector));
}

}  // namespace

std::vector<TaskSearch> plan_opat(const Session& session, std::span<const Tensor> inputs, const OpatOptions& options) {
  const std::vector<const Provider*> sources = providers_of(options.session);
  TaskSearchOptions search;
  search.seed = options.seed;
  std::vector<TaskSearch> searches;
  for (TuningTask& task : extract_tasks(session, inputs)) {
    search.algorithm = algorithm_for(options.algorithm, task.workload);
    searches.emplace_back(std::move(task), sources, search);
  }
  return searches;
}

OpatOutcome run_opat(const std::function<Session(const SessionOptions&)>& make_session,
                     const std::function<std::vector<Tensor>(const Graph&)>& make_inputs, const OpatOptions& options) {
  Session before = make_session(options.session);
  const std::vector<Tensor> inputs = make_inputs(before.graph());
  Job job(options, before, inputs);
  TuningResult& result = job.result();
  result.before_plan = before.plan(inputs);
  result.before_step_ms = time_steps(before, inputs);
  job.run();
  std::optional<Session> after;
  if (const auto advisor = job.advisor()) {
    SessionOptions tuned = options.session;
    tuned.advisor = advisor;
    after = make_session(tuned);
    judge_model(job, before, *after, inputs, options);
  } else {
    result.conclusion = "the default plan is kept: no kernel was found faster beyond noise";
  }
  if (job.stopped()) result.end = JobEnd::interrupted;
  Session& chosen = result.applied ? *after : before;
  result.after_plan = chosen.plan(inputs);
  result.after_step_ms = time_steps(chosen, inputs);
  result.seconds = job.seconds();
  Json event{
      {"event", "end"}, {"applied", result.applied}, {"conclusion", result.conclusion}, {"trials", result.trials}};
  if (result.comparison) event["ratio"] = result.comparison->ratio;
  job.emit(std::move(event));
  return {std::move(result), std::move(chosen)};
}

}  // namespace attune
