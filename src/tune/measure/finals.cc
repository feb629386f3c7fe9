#include "tune/measure/finals.h"

#include <algorithm>
#include <cmath>

namespace attune::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFirstRounds = 3;           // tell how long one takes
constexpr double kShareOfTimeout = 0.25;  // that one request may be expected to take

/// Someone who takes part, with a time for each round.
struct Entrant {
  InstanceId id;
  std::vector<double> ns;
  int finalist = -1;  // its position; -1: the default or the duplicate
};

class Race {
 public:
  Race(WorkerLink& link, const MeasureTask& task, const Trial& default_trial, std::span<const Trial> finalists,
       const FinalsOptions& options)
      : link_(link), task_(task), options_(options) {
    entrants_ = {{{default_trial.provider, default_trial.config, 0}, {}, -1},
                 {{default_trial.provider, default_trial.config, 1}, {}, -1}};
    for (size_t i = 0; i < finalists.size(); ++i) {
      result_.finalists.push_back({finalists[i], Outcome::ok, "", {}, {}, 0});
      // A kernel of its own for each, even where a finalist is the default's equal or another's.
      const int position = static_cast<int>(i);
      entrants_.push_back({{finalists[i].provider, finalists[i].config, 2 + position}, {}, position});
    }
  }

  Finals run() {
    const auto begin = Clock::now();
    int next = kFirstRounds;
    while (result_.problem.empty() && result_.rounds < options_.most_rounds) {
      const auto chunk_begin = Clock::now();
      if (!run_rounds(std::min(next, options_.most_rounds - result_.rounds))) continue;
      judge_all();
      if (result_.rounds >= options_.least_rounds && (decided() || Clock::now() - begin > options_.budget)) break;
      const double round_ms =
          std::chrono::duration<double, std::milli>(Clock::now() - chunk_begin).count() / std::max(1, next);
      const double most = kShareOfTimeout * static_cast<double>(link_.options().timeouts.time.count()) / round_ms;
      next = static_cast<int>(std::clamp(most, 1.0, 12.0));
    }
    if (result_.rounds > 0) judge_all();
    return std::move(result_);
  }

 private:
  /// False when somebody dropped out, or when nothing can be raced at all (then `problem` says why).
  bool run_rounds(int rounds) {
    if (!make_ready()) return false;
    RoundsRequest request;
    for (const Entrant& entrant : entrants_) request.entrants.push_back(entrant.id);
    request.rounds = rounds;
    request.min_sample_us = options_.min_sample_us;
    request.seed = link_.next_seed();
    const auto answer = link_.rounds(request);
    if (!answer.ok()) {
      drop(static_cast<size_t>(answer.entrant), answer.reply);
      return false;
    }
    for (size_t i = 0; i < entrants_.size(); ++i) {
      const auto& ns = answer.reply.times_ns.at(i);
      entrants_[i].ns.insert(entrants_[i].ns.end(), ns.begin(), ns.end());
    }
    result_.rounds += rounds;
    result_.disturbed_rounds += answer.reply.disturbed;
    return true;
  }

  bool make_ready() {
    if (const auto answer = link_.set_subject(task_); !answer.ok()) {
      result_.problem = "reference: " + answer.reply.message;
      return false;
    }
    for (size_t i = 0; i < entrants_.size(); ++i) {
      Stage stage = Stage::build;
      const auto answer = link_.make_ready(entrants_[i].id, stage);
      if (answer.ok()) continue;
      drop(i, answer.reply);
      return false;
    }
    return true;
  }

  void drop(size_t position, const Reply& reply) {
    const int finalist = position < entrants_.size() ? entrants_[position].finalist : -1;
    if (finalist < 0) {
      result_.problem = "the default failed: " + reply.message;
      return;
    }
    result_.finalists[static_cast<size_t>(finalist)].outcome = reply.outcome;
    result_.finalists[static_cast<size_t>(finalist)].message = reply.message;
    entrants_.erase(entrants_.begin() + static_cast<ptrdiff_t>(position));
  }

  std::vector<double> log_ratios(const Entrant& entrant) const {
    std::vector<double> ratios;
    for (size_t i = 0; i < entrant.ns.size(); ++i) ratios.push_back(std::log(entrant.ns[i] / entrants_[0].ns.at(i)));
    return ratios;
  }

  void judge_all() {
    const auto comparisons = static_cast<double>(std::max<size_t>(1, entrants_.size() - 2));
    VerdictOptions verdict{1 - (1 - options_.confidence) / comparisons, options_.tie_band, 0};
    const std::vector<double> duplicate = log_ratios(entrants_[1]);
    result_.noise_floor = noise_of(duplicate, options_.confidence);
    result_.duplicate = judge(duplicate, {options_.confidence, options_.tie_band, 0});
    result_.default_ns = median_of(entrants_[0].ns);
    verdict.noise_floor = result_.noise_floor;
    for (const Entrant& entrant : entrants_) {
      if (entrant.finalist < 0) continue;
      Finalist& finalist = result_.finalists[static_cast<size_t>(entrant.finalist)];
      finalist.log_ratios = log_ratios(entrant);
      finalist.judgement = judge(finalist.log_ratios, verdict);
      finalist.time_ns = median_of(entrant.ns);
    }
  }

  /// A tie within a noise that is too loud is none yet.
  bool decided() const {
    for (const Entrant& entrant : entrants_) {
      if (entrant.finalist < 0) continue;
      const Judgement& judgement = result_.finalists[static_cast<size_t>(entrant.finalist)].judgement;
      const bool clear = judgement.verdict == Verdict::faster || judgement.verdict == Verdict::slower;
      const bool calm = result_.noise_floor <= options_.tie_band;
      if (judgement.verdict == Verdict::unresolved || (!clear && !calm)) return false;
    }
    return true;
  }

  WorkerLink& link_;
  const MeasureTask& task_;
  FinalsOptions options_;
  std::vector<Entrant> entrants_;  // the default, its duplicate, the finalists that are still there
  Finals result_;
};

}  // namespace

Finals run_finals(WorkerLink& link, const MeasureTask& task, const Trial& default_trial,
                  std::span<const Trial> finalists, const FinalsOptions& options) {
  return Race(link, task, default_trial, finalists, options).run();
}

}  // namespace attune::tune
