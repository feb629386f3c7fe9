#include "job/compare_sessions.h"

#include "base/random.h"
#include "job/tuning_task.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTurnMs = 25;  // about as long as a turn of short runs takes
constexpr int kMostRuns = 8;    // in a turn
constexpr int kWarmUp = 2;
constexpr double kPatience = 2;  // times the seconds, for a model so slow that few rounds fit

struct Turn {
  double run_ms = 0;
  std::vector<double> step_ms;
};

Turn run_once(const Session& session, std::span<const Tensor> inputs) {
  Turn turn;
  const auto begin = Clock::now();
  session.run(inputs, {.step_ms = &turn.step_ms});
  turn.run_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return turn;
}

double mean_of(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

/// The quotient of all time before and all time after, and what it would be had other rounds been drawn.
struct RateRatio {
  double ratio = 1;
  Interval interval{1, 1};
};

RateRatio rate_ratio(std::span<const double> before_ms, std::span<const double> after_ms) {
  constexpr int kResamples = 1000;
  constexpr double kTail = 0.025;  // on each side of 95 %
  const size_t rounds = before_ms.size();
  Random random(1);
  std::vector<double> ratios;
  for (int i = 0; i < kResamples; ++i) {
    double before = 0, after = 0;
    for (size_t draw = 0; draw < rounds; ++draw) {
      const size_t round = random.next() % rounds;
      before += before_ms[round];
      after += after_ms[round];
    }
    ratios.push_back(before / after);
  }
  std::ranges::sort(ratios);
  return {mean_of(before_ms) / mean_of(after_ms), {quantile(ratios, kTail), quantile(ratios, 1 - kTail)}};
}

/// The medians over the runs that count (for throughput the mean of whole runs): what disturbs one of them does not
/// disturb all.
Turn take_turn(const Session& session, std::span<const Tensor> inputs, int runs, Metric metric) {
  if (runs <= 1) return run_once(session, inputs);
  run_once(session, inputs);
  std::vector<double> run_ms;
  std::vector<std::vector<double>> step_ms;
  for (int i = 1; i < runs; ++i) {
    Turn one = run_once(session, inputs);
    run_ms.push_back(one.run_ms);
    step_ms.push_back(std::move(one.step_ms));
  }
  const double typical = metric == Metric::latency ? median_of(run_ms) : mean_of(run_ms);
  return {typical, median_steps(step_ms)};
}

}  // namespace

void SessionComparison::summarize() {
  if (metric == Metric::throughput && !before_ms.empty()) {
    const RateRatio rate = rate_ratio(before_ms, after_ms);
    ratio = rate.ratio;
    ratio_interval = rate.interval;
    return;
  }
  std::vector<double> log_ratios;
  for (size_t i = 0; i < before_ms.size(); ++i) log_ratios.push_back(std::log(before_ms[i] / after_ms[i]));
  if (log_ratios.empty()) return;
  const SampleSummary summary = summarize_samples(log_ratios);
  ratio = std::exp(summary.median);
  ratio_interval = {std::exp(summary.median_interval.low), std::exp(summary.median_interval.high)};
}

void SessionComparison::add(const SessionComparison& more) {
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(before_ms, more.before_ms);
  append(after_ms, more.after_ms);
  append(before_step_ms, more.before_step_ms);
  append(after_step_ms, more.after_step_ms);
  summarize();
}

SessionComparison compare_sessions(const Session& before, const Session& after, std::span<const Tensor> inputs,
                                   const CompareOptions& options) {
  double run_ms = 0;
  for (int i = 0; i < kWarmUp; ++i) {
    run_ms = run_once(before, inputs).run_ms;
    run_once(after, inputs);
  }
  const int runs = std::clamp(static_cast<int>(kTurnMs / std::max(run_ms, 1e-3)), 1, kMostRuns);
  SessionComparison result;
  result.metric = options.metric;
  Random random(options.seed);
  const auto begin = Clock::now();
  const auto goes_on = [&] {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const auto rounds = static_cast<int>(result.before_ms.size());
    return seconds < options.seconds || !result.is_enough() ||
           (rounds < options.wanted_rounds && seconds < kPatience * options.seconds);
  };
  while (goes_on()) {
    if (options.stop()) break;
    const bool before_first = random.next() % 2 == 0;
    Turn first = take_turn(before_first ? before : after, inputs, runs, options.metric);
    Turn second = take_turn(before_first ? after : before, inputs, runs, options.metric);
    if (!before_first) std::swap(first, second);
    result.before_ms.push_back(first.run_ms);
    result.after_ms.push_back(second.run_ms);
    result.before_step_ms.push_back(std::move(first.step_ms));
    result.after_step_ms.push_back(std::move(second.step_ms));
  }
  result.summarize();
  return result;
}

}  // namespace attune
