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

bool agree_on_side(const RatiosByProcess& processes) {
  bool below = false, above = false;
  for (const auto& ratios : processes) {
    if (ratios.empty()) continue;
    (median_of(ratios) < 0 ? below : above) = true;
  }
  return below != above;
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
  const double band = std::max(options.tie_band, 2 * options.noise_floor);
  const bool one_sided = high < 0 || low > 0;
  const bool within_noise = std::abs(result.log_ratio) <= options.noise_floor;
  if (one_sided && !within_noise && agree_on_side(processes))
    result.verdict = high < 0 ? Verdict::faster : Verdict::slower;
  else if ((one_sided && within_noise) || (low >= -band && high <= band))
    result.verdict = Verdict::tie;
  return result;
}

double noise_of(const RatiosByProcess& processes, double confidence) {
  const std::vector<double> log_ratios = all_of(processes);
  const Interval interval = sign_test_interval(log_ratios, confidence);
  double noise = std::max({std::abs(interval.low), std::abs(interval.high), 2 * std::abs(median_of(log_ratios))});
  for (const auto& ratios : processes)
    if (!ratios.empty()) noise = std::max(noise, std::abs(median_of(ratios)));
  return noise;
}

}  // namespace attune::tune
