#include "job/compare_sessions.h"

#include "base/random.h"

#include <chrono>
#include <cmath>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

double run_ms(const Session& session, std::span<const Tensor> inputs) {
  const auto begin = Clock::now();
  session.run(inputs);
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

SessionComparison compare_sessions(const Session& before, const Session& after, std::span<const Tensor> inputs,
                                   const CompareOptions& options) {
  constexpr int kWarmUp = 2;
  for (int i = 0; i < kWarmUp; ++i) {
    run_ms(before, inputs);
    run_ms(after, inputs);
  }
  SessionComparison result;
  std::vector<double> log_ratios;
  Random random(options.seed);
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  while (Clock::now() < end || static_cast<int>(log_ratios.size()) < options.fewest_rounds) {
    if (options.stop() && !log_ratios.empty()) break;
    const bool before_first = random.next() % 2 == 0;
    const double first = run_ms(before_first ? before : after, inputs);
    const double second = run_ms(before_first ? after : before, inputs);
    result.before_ms.push_back(before_first ? first : second);
    result.after_ms.push_back(before_first ? second : first);
    log_ratios.push_back(std::log(result.before_ms.back() / result.after_ms.back()));
  }
  const SampleSummary summary = summarize_samples(log_ratios);
  result.ratio = std::exp(summary.median);
  result.ratio_interval = {std::exp(summary.median_interval.low), std::exp(summary.median_interval.high)};
  return result;
}

}  // namespace attune
