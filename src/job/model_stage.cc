#include "job/model_stage.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace attune {

ModelStage::ModelStage(JobFrame& job, std::unique_ptr<PairRunner> runner)
    : job_(job), runner_(std::move(runner)), judge_(*runner_, judge_options()) {}

ModelJudgeOptions ModelStage::judge_options() {
  ModelJudgeOptions options;
  options.on_verdict = [this](size_t task, const tune::Trial& trial, const ModelVerdict& verdict) {
    on_verdict(task, trial, verdict);
  };
  // Two runs: the second confirms the first.
  options.has_time = [this] { return !job_.clock.stopped() && job_.clock.left_s() > 2 * runner_->last_run_s(); };
  return options;
}

double ModelStage::needed_s(double round_s) const {
  constexpr double kFirstGuess = 1.5, kRuns = 3.5;  // a round, the comparison and its confirmation, some reserve
  return kRuns * (runner_->last_run_s() > 0 ? runner_->last_run_s() : kFirstGuess * round_s);
}

std::string reason_text(const ModelVerdict* verdict, std::string_view than) {
  if (verdict == nullptr) return "tried inside of the model";
  const Interval interval = verdict->effect.ratio_interval(0.95);
  return fmt::format("measured {:.2f}x ({:.2f} to {:.2f}) as fast as {}, inside of the model",
                     1 / verdict->effect.ratio(), 1 / interval.high, 1 / interval.low, than);
}

void ModelStage::judge_proposals(double seconds) {
  if (const Choices choices = proposals(); !choices.empty()) judge_together(choices, seconds);
}

bool ModelStage::tell_rivals_apart(double seconds) {
  const Choices before = judge_.accepted();
  const bool goes_on = judge_.tell_rivals_apart(seconds);
  if (judge_.accepted() != before && !job_.clock.stopped()) show_round(nullptr);
  return goes_on;
}

void ModelStage::judge_together(const Choices& proposals, double seconds) {
  const std::string problem = judge_.judge(proposals, seconds).problem;
  if (job_.clock.stopped()) return;
  if (problem.empty()) {
    show_round(nullptr);
    return;
  }
  // Each alone is right; together their rounding may add up. Halves tell who does not fit.
  if (proposals.size() == 1) {
    drop_unfit(proposals, problem);
    return;
  }
  const auto middle = std::next(proposals.begin(), static_cast<ptrdiff_t>(proposals.size() / 2));
  for (const Choices& half : {Choices(proposals.begin(), middle), Choices(middle, proposals.end())})
    if (job_.clock.has_time()) judge_together(half, seconds);
}

void ModelStage::drop_unfit(const Choices& choice, const std::string& problem) {
  const auto& [task, trial] = *choice.begin();
  unfit_.insert({task, trial});
  job_.emit({{"event", "task_failed"}, {"workload", name_of(task)}, {"reason", "inside of the model, " + problem}});
  on_unfit(task, trial, problem);
}

void ModelStage::on_verdict(size_t task, const tune::Trial& trial, const ModelVerdict& verdict) {
  const auto [shown, is_first] = shown_.try_emplace({task, trial}, verdict.verdict);
  const bool is_news = is_first || shown->second != verdict.verdict;
  shown->second = verdict.verdict;
  if (is_news) show_verdict(task, trial, verdict);
  // Winners may still be dropped; they are kept at the end.
  if (verdict.verdict != tune::Verdict::faster && !verdict.is_open()) keep_verdict(task, trial, InModel::left_out);
}

void ModelStage::show_verdict(size_t task, const tune::Trial& trial, const ModelVerdict& verdict) {
  const Interval interval = verdict.effect.ratio_interval(0.95);
  job_.emit({{"event", "final"},
             {"task", task},
             {"op", op_of(task)},
             {"trial", {{"provider", trial.provider}, {"config", trial.config}}},
             {"verdict", tune::verdict_name(verdict.verdict)},
             {"ratio", 1 / verdict.effect.ratio()},
             {"low", 1 / interval.high},
             {"high", 1 / interval.low},
             {"saved_ms", verdict.effect.median_saved_ms()},
             {"rounds", verdict.effect.rounds()},
             {"noise_floor", judge_.noise_floor()}});
}

void ModelStage::keep_verdict(size_t task, const tune::Trial& trial, InModel decision) {
  if (!kept_.insert({task, trial}).second) return;
  const ModelVerdict& verdict = *judge_.find(task, trial);
  ModelEvidence evidence;
  evidence.model = job_.model;
  evidence.effect = verdict.effect;
  evidence.decision = decision;
  evidence.calls = calls_of(task);
  evidence.max_error = verdict.outputs.max_error;
  evidence.tolerance = verdict.outputs.tolerance;
  if (evidence.effect.rounds() > 0) job_.keep(record_of(task, trial, std::move(evidence)));
}

void ModelStage::show_round(const SessionComparison* measured) {
  const double ratio = measured != nullptr ? measured->ratio : judge_.expected_ratio(judge_.accepted());
  looks_.push_back({job_.clock.seconds(), judge_.accepted()});
  nlohmann::ordered_json event{{"event", "model"},
                               {"ratio", ratio},
                               {what(), judge_.accepted().size()},
                               {"measured", measured != nullptr},
                               {"noise_floor", judge_.noise_floor()}};
  if (measured != nullptr) {
    event["low"] = measured->ratio_interval.low;
    event["high"] = measured->ratio_interval.high;
  }
  job_.emit(std::move(event));
}

/// What each look was worth, by all that is known at the end: kernels that seemed to gain early may have been lucky.
void ModelStage::look_back() {
  auto looks = nlohmann::ordered_json::array();
  for (const Look& look : looks_) {
    const double ratio = judge_.expected_ratio(look.accepted);
    job_.result.convergence.push_back({look.seconds, job_.run_ms / ratio});
    looks.push_back({{"t", look.seconds}, {"ratio", ratio}, {what(), look.accepted.size()}});
  }
  job_.emit({{"event", "convergence"}, {"looks", std::move(looks)}});
  if (job_.result.applied) job_.result.convergence.back().run_ms = job_.run_ms / job_.result.comparison->ratio;
}

std::optional<Session> ModelStage::conclude() {
  TuningResult& result = job_.result;
  if (job_.clock.stopped()) {
    settle({});
    look_back();
    result.conclusion = "the default plan is kept: the job was interrupted before the model was judged";
    return std::nullopt;
  }
  const Choices accepted = judge_.accepted();
  constexpr double kRuns = 4;  // to be had in the time left, planning included
  const ModelConclusion conclusion = judge_.conclude(std::clamp(job_.clock.left_s() / kRuns, 0.3, 6.0));
  for (const auto& [task, trial] : accepted) {
    const auto chosen = conclusion.choices.find(task);
    const bool is_used = chosen != conclusion.choices.end() && chosen->second == trial;
    if (!job_.clock.stopped()) keep_verdict(task, trial, is_used ? InModel::used : InModel::left_out);
  }
  settle(conclusion.choices);
  state_conclusion(conclusion);
  if (result.applied) show_round(&*result.comparison);
  look_back();
  if (!result.applied) return std::nullopt;
  return runner_->take_session();
}

void ModelStage::state_conclusion(const ModelConclusion& conclusion) {
  TuningResult& result = job_.result;
  result.noise_floor = judge_.noise_floor();
  result.comparison = conclusion.comparison;
  result.applied = !conclusion.choices.empty();
  if (!result.comparison) {
    result.conclusion = conclusion.problem.empty()
                            ? fmt::format(
                                  "the default plan is kept: no other {} were found faster beyond noise inside "
                                  "of the model",
                                  what())
                            : "the tuned plan was dropped: " + conclusion.problem;
    return;
  }
  const Interval interval = result.comparison->ratio_interval;
  result.noise_floor = std::max(result.noise_floor, std::log(interval.high / interval.low) / 2);
  const std::string ratio =
      fmt::format("{:.2f}x as fast ({:.2f} to {:.2f})", result.comparison->ratio, interval.low, interval.high);
  result.conclusion =
      result.applied ? "the tuned plan is " + ratio
                     : "the default plan is kept: the tuned one is " + ratio + ", which is not faster beyond noise";
}

}  // namespace attune
