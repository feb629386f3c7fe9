#include "tune/measure/measurer.h"

#include "base/statistics.h"
#include "tune/measure/finals.h"
#include "tune/measure/worker_link.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace attune::tune {
namespace {

constexpr int kPairsOfAnchor = 3;           // against its own copy
constexpr size_t kPairsThatSetTheBest = 3;  // a single pair may be luck

InstanceId instance_of(const Trial& trial, int copy = 0) { return {trial.provider, trial.config, copy}; }

TrialResult failed(const WorkerLink::Answer& answer, Stage stage, std::string_view whose = "") {
  TrialResult result;
  result.outcome = answer.reply.outcome;
  result.stage = stage;
  result.message = std::string(whose) + answer.reply.message;
  result.max_error = answer.reply.max_error;
  return result;
}

}  // namespace

class Measurer::Impl {
 public:
  explicit Impl(MeasurerOptions options) : link_(std::move(options)) {}

  Measurement measure(const MeasureTask& task, const Trial& anchor, std::span<const Trial> candidates,
                      LadderOptions ladder, const MeasureControl& control) {
    Measurement measurement;
    measurement.anchor = measure_anchor(task, anchor, ladder);
    if (measurement.anchor.outcome != Outcome::ok) return measurement;
    std::vector<InstanceId> ids;
    for (const Trial& candidate : candidates) ids.push_back(instance_of(candidate));
    if (link_.set_subject(task).ok()) link_.build_ahead(ids);
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (control.should_stop && control.should_stop()) break;
      TrialResult result = run_trial(task, anchor, instance_of(candidates[i]), ladder);
      ++counts_.trials;
      counts_.failed_trials += result.outcome == Outcome::ok ? 0 : 1;
      if (result.outcome == Outcome::ok && result.log_ratios.size() >= kPairsThatSetTheBest)
        ladder.best_log_ratio = std::min(ladder.best_log_ratio, result.log_ratio());
      if (control.on_result) control.on_result(i, result);
      measurement.trials.push_back(std::move(result));
    }
    return measurement;
  }

  Finals finals(const MeasureTask& task, const Trial& default_trial, std::span<const Trial> finalists,
                const FinalsOptions& options) {
    Finals result = run_finals(link_, task, default_trial, finalists, options);
    if (result.problem.empty()) noise_.push_back(result.noise_floor);
    return result;
  }

  std::optional<double> noise_floor() const {
    if (noise_.empty()) return std::nullopt;
    std::vector<double> sorted = noise_;
    std::sort(sorted.begin(), sorted.end());
    return quantile(sorted, 0.9);
  }
  MeasurerCounts counts() const {
    MeasurerCounts counts = counts_;
    counts.workers_started = link_.workers_started();
    return counts;
  }
  const CeilingRates& ceilings() { return link_.ceilings(); }

 private:
  /// Against a copy of itself, once for each task.
  TrialResult measure_anchor(const MeasureTask& task, const Trial& anchor, LadderOptions ladder) {
    const std::string key = fmt::format("{}\n{}", task.workload.key(), to_text(anchor));
    if (const auto known = anchors_.find(key); known != anchors_.end()) return known->second;
    link_.ceilings();  // before anything that may be broken ran
    ladder.rungs = {{kPairsOfAnchor, 1e9}};
    ladder.best_log_ratio = 0;
    TrialResult result = run_trial(task, anchor, instance_of(anchor, 1), ladder);
    if (result.outcome == Outcome::ok) anchors_[key] = result;
    return result;
  }

  TrialResult run_trial(const MeasureTask& task, const Trial& anchor, const InstanceId& candidate,
                        const LadderOptions& ladder) {
    if (const auto answer = link_.set_subject(task); !answer.ok()) {
      TrialResult result = failed(answer, Stage::reference, "reference: ");
      result.outcome = Outcome::infrastructure;
      return result;
    }
    Stage stage = Stage::build;
    const InstanceId anchor_id = instance_of(anchor);
    if (const auto answer = link_.make_ready(anchor_id, stage); !answer.ok()) return failed(answer, stage, "anchor: ");
    const auto ready = link_.make_ready(candidate, stage);
    if (!ready.ok()) return failed(ready, stage);
    const auto timed = link_.pairs({anchor_id, candidate, ladder.rungs, ladder.abort_ratio, ladder.best_log_ratio,
                                    ladder.min_sample_us, link_.next_seed()});
    if (!timed.ok()) return failed(timed, Stage::time);
    TrialResult result;
    result.outcome = Outcome::ok;
    result.stage = Stage::time;
    result.candidate_ns = timed.reply.times_ns.at(0);
    result.anchor_ns = timed.reply.times_ns.at(1);
    for (size_t i = 0; i < result.candidate_ns.size(); ++i)
      result.log_ratios.push_back(std::log(result.candidate_ns[i] / result.anchor_ns.at(i)));
    result.disturbed_pairs = static_cast<int>(std::ranges::count(timed.reply.disturbed, 1));
    result.max_error = ready.reply.max_error;
    result.build_ms = ready.reply.elapsed_ms;
    const auto is_implausible = [&] {
      result.roofline_ns = roofline_ns(task.workload, link_.ceilings());
      return result.time_ns() < kPlausibleShare * result.roofline_ns;
    };
    if (is_implausible() && (!link_.raise_ceilings() || is_implausible())) {
      result.outcome = Outcome::implausible;
      result.message = fmt::format("{:.0f} ns is below the {:.0f} ns that this machine needs at its best",
                                   result.time_ns(), result.roofline_ns);
    }
    return result;
  }

  WorkerLink link_;
  std::map<std::string, TrialResult> anchors_;
  std::vector<double> noise_;  // of each finals
  MeasurerCounts counts_;
};

Measurer::Measurer(MeasurerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Measurer::~Measurer() = default;
Measurer::Measurer(Measurer&&) noexcept = default;
Measurer& Measurer::operator=(Measurer&&) noexcept = default;

Measurement Measurer::measure(const MeasureTask& task, const Trial& anchor, std::span<const Trial> candidates,
                              LadderOptions ladder, const MeasureControl& control) {
  return impl_->measure(task, anchor, candidates, std::move(ladder), control);
}
Finals Measurer::finals(const MeasureTask& task, const Trial& default_trial, std::span<const Trial> finalists,
                        const FinalsOptions& options) {
  return impl_->finals(task, default_trial, finalists, options);
}
std::optional<double> Measurer::noise_floor() const { return impl_->noise_floor(); }
MeasurerCounts Measurer::counts() const { return impl_->counts(); }
const CeilingRates& Measurer::ceilings() { return impl_->ceilings(); }

}  // namespace attune::tune
