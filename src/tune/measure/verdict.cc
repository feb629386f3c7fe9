#include "tune/measure/verdict.h"

#include <algorithm>
#include <cmath>

namespace attune::tune {

std::string_view verdict_name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"faster", "slower", "tie", "unresolved"};
  return kNames[static_cast<size_t>(verdict)];
}

namespace {

std::vector<double> all_of(const RatiosByProcess& processes) {
  std::vector<double> all;
  for (const auto& ratios : processes) all.insert(all.end(), ratios.begin(), ratios.end());
  return all;
}

/// The least and the largest median of a process.
Interval range_of_medians(const RatiosByProcess& processes) {
  std::vector<double> medians;
  for (const auto& ratios : processes)
    if (!ratios.empty()) medians.push_back(median_of(ratios));
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  return {*low, *high};
}

}  // namespace

Judgement judge(const RatiosByProcess& processes, const VerdictOptions& options) {
  const std::vector<double> log_ratios = all_of(processes);
  Judgement result;
  result.log_ratio = median_of(log_ratios);
  result.log_interval = sign_test_interval(log_ratios, options.confidence);
  // Fewer samples than this cannot have that confidence, however they fall.
  if (std::exp2(1.0 - static_cast<double>(log_ratios.size())) > 1 - options.confidence) return result;
  const auto [low, high] = result.log_interval;
  const Interval medians = range_of_medians(processes);
  const double noise = std::max(options.noise_floor, (medians.high - medians.low) / 2);
  const double band = std::max(options.tie_band, 2 * noise);
  const bool one_sided = (high < 0 && medians.high < 0) || (low > 0 && medians.low > 0);
  if (one_sided && std::abs(result.log_ratio) > std::max(options.tie_band, noise))
    result.verdict = high < 0 ? Verdict::faster : Verdict::slower;
  else if (one_sided || (low >= -band && high <= band))
    result.verdict = Verdict::tie;
  return result;
}

double noise_of(const RatiosByProcess& processes, double confidence) {
  const std::vector<double> log_ratios = all_of(processes);
  const Interval interval = sign_test_interval(log_ratios, confidence);
  const double noise = std::max({std::abs(interval.low), std::abs(interval.high), 2 * std::abs(median_of(log_ratios))});
  const Interval medians = range_of_medians(processes);
  return std::max({noise, std::abs(medians.low), std::abs(medians.high)});
}

}  // namespace attune::tune
