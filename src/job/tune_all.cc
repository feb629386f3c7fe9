#include "job/tune_all.h"

#include "job/check_outputs.h"
#include "job/job_clock.h"
#include "job/partition_runner.h"
#include "job/sgat.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace attune {
namespace {

constexpr double kOperatorShare = 0.45, kSubgraphShare = 0.6;  // of the budget; of what is left after that
constexpr double kReserveShare = 0.08;                         // of the budget, for the last comparison
constexpr double kLeastStage = 3;                              // seconds; shorter ones find nothing

class AllJobs {
 public:
  AllJobs(const Graph& model, const InputMaker& make_inputs, const OpatOptions& options)
      : model_(model), make_inputs_(make_inputs), options_(options), clock_(options.budget_s, options.stop) {}

  TuningOutcome run(const AdvisorMaker& make_advisor) {
    best_.emplace(tune_operators(options_.session, options_.budget_s * kOperatorShare));
    const bool has_more_kernels = best_->result.end == JobEnd::budget_spent;
    if (has_time()) tune_subgraphs(make_advisor);
    if (has_time() && has_more_kernels && !kernels_alone_) go_on_with_operators();
    return conclude();
  }

 private:
  double left_s() const { return clock_.left_s() - kReserveShare * options_.budget_s; }
  bool has_time() const { return !clock_.stopped() && left_s() > kLeastStage; }

  /// The options of one stage, whose events say which it is and count the time of all.
  OpatOptions stage_options(std::string_view stage, double budget_s) const {
    OpatOptions options = options_;
    options.budget_s = budget_s;
    const double begin_s = clock_.seconds();
    options.on_event = [this, stage = std::string(stage), begin_s](nlohmann::ordered_json event) {
      event["t"] = event.at("t").get<double>() + begin_s;
      event["job"] = stage;
      options_.on_event(event);
    };
    return options;
  }

  TuningOutcome tune_operators(const SessionOptions& session, double budget_s) const {
    OpatOptions options = stage_options("opat", budget_s);
    options.session = session;
    return run_opat([&](const SessionOptions& wanted) { return Session(Graph(model_), wanted); }, make_inputs_,
                    options);
  }

  void tune_subgraphs(const AdvisorMaker& make_advisor) {
    OpatOptions options = stage_options("sgat", left_s() * kSubgraphShare);
    options.session.advisor = make_advisor();
    TuningOutcome outcome = run_sgat(model_, make_inputs_, options);
    TuningResult& result = best_->result;
    result.subgraphs = outcome.result.subgraphs;
    add_counts(outcome.result);
    if (!outcome.result.applied) return;
    kernels_alone_.emplace(TuningOutcome{result, std::move(best_->session)});
    best_->session = std::move(outcome.session);
    if (!has_time()) return;
    // Other subgraphs are other workloads, which nobody tuned yet.
    Choices choices;
    std::vector<Subgraph> subgraphs;
    for (const SubgraphResult& one : result.subgraphs) {
      if (one.winner) choices[subgraphs.size()] = *one.winner;
      subgraphs.push_back(one.subgraph);
    }
    TuningOutcome again = tune_operators(partitioned(options_.session, subgraphs, choices), left_s());
    add_counts(again.result);
    if (again.result.applied) take_if_faster(std::move(again));
  }

  /// Subgraphs stay as they are: what is left of the time goes to the kernels, where the first search broke off.
  void go_on_with_operators() {
    TuningOutcome more = tune_operators(options_.session, left_s());
    add_counts(more.result);
    if (!more.result.applied) return;
    TuningResult& result = best_->result;
    result.tasks = std::move(more.result.tasks);
    result.comparison = std::move(more.result.comparison);
    result.before_step_ms = std::move(more.result.before_step_ms);
    result.after_step_ms = std::move(more.result.after_step_ms);
    result.after_plan = std::move(more.result.after_plan);
    result.conclusion = std::move(more.result.conclusion);
    result.applied = true;
    best_->session = std::move(more.session);
  }

  void add_counts(const TuningResult& more) {
    TuningResult& result = best_->result;
    result.trials += more.trials;
    result.failed_trials += more.failed_trials;
    result.reused_trials += more.reused_trials;
    result.noise_floor = std::max(result.noise_floor, more.noise_floor);
    result.records.insert(result.records.end(), more.records.begin(), more.records.end());
    result.end = more.end;
  }

  SessionComparison compare(const Session& before, const Session& after, std::span<const Tensor> inputs) const {
    CompareOptions compare;
    compare.seconds = std::clamp(clock_.left_s() / 2, 0.3, 6.0);
    compare.metric = options_.metric;
    compare.seed = options_.seed;
    compare.stop = options_.stop;
    return compare_sessions(before, after, inputs, compare);
  }

  void take_if_faster(TuningOutcome outcome) {
    const std::vector<Tensor> inputs = make_inputs_(outcome.session.graph());
    if (!check_outputs(best_->session, outcome.session, inputs).problem.empty()) return;
    if (!compare(best_->session, outcome.session, inputs).faster()) return;
    best_->session = std::move(outcome.session);
    best_->result.tasks = std::move(outcome.result.tasks);
  }

  /// What was found together against the model as it was; the kernels alone were compared already.
  TuningOutcome conclude() {
    TuningResult& result = best_->result;
    result.seconds = clock_.seconds();
    if (clock_.stopped()) result.end = JobEnd::interrupted;
    if (kernels_alone_) compare_with_untuned();
    result.seconds = clock_.seconds();
    nlohmann::ordered_json event{
        {"event", "end"},          {"job", "all"},       {"applied", result.applied}, {"conclusion", result.conclusion},
        {"trials", result.trials}, {"t", result.seconds}};
    if (result.comparison) event["ratio"] = result.comparison->ratio;
    options_.on_event(event);
    return std::move(*best_);
  }

  void compare_with_untuned() {
    TuningResult& result = best_->result;
    const Session untuned(Graph(model_), options_.session);
    const std::vector<Tensor> inputs = make_inputs_(untuned.graph());
    const OutputCheck outputs = check_outputs(untuned, best_->session, inputs);
    if (!outputs.problem.empty()) return fall_back("subgraphs fused otherwise were dropped: " + outputs.problem);
    SessionComparison whole = compare(untuned, best_->session, inputs);
    const std::string ratio = fmt::format("{:.2f}x as fast ({:.2f} to {:.2f}) as the untuned model", whole.ratio,
                                          whole.ratio_interval.low, whole.ratio_interval.high);
    if (!whole.faster()) return fall_back("with subgraphs fused otherwise it is " + ratio);
    result.applied = true;
    result.conclusion = "with kernels and subgraphs together, the tuned plan is " + ratio;
    result.before_step_ms = median_steps(whole.before_step_ms);
    result.after_step_ms = median_steps(whole.after_step_ms);
    result.after_plan = best_->session.plan(inputs);
    result.comparison = std::move(whole);
  }

  /// To what the kernels alone gave.
  void fall_back(const std::string& why) {
    TuningResult& result = best_->result;
    result.tasks = std::move(kernels_alone_->result.tasks);
    for (SubgraphResult& one : result.subgraphs) one.winner.reset();
    result.conclusion += "; " + why;
    best_->session = std::move(kernels_alone_->session);
  }

  const Graph& model_;
  const InputMaker& make_inputs_;
  const OpatOptions& options_;
  JobClock clock_;
  std::optional<TuningOutcome> best_;
  std::optional<TuningOutcome> kernels_alone_;  // where subgraphs are fused otherwise by now
};

}  // namespace

TuningOutcome run_all(const Graph& model, const InputMaker& make_inputs, const AdvisorMaker& make_advisor,
                      const OpatOptions& options) {
  return AllJobs(model, make_inputs, options).run(make_advisor);
}

}  // namespace attune
