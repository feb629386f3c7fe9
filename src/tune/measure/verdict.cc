#include "tune/measure/verdict.h"

#include <algorithm>
#include <cmath>

namespace attune::tune {

std::string_view verdict_name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"faster", "slower", "tie", "unresolved"};
  return kNames[static_cast<size_t>(verdict)];
}

Judgement judge(std::span<const double> log_ratios, const VerdictOptions& options) {
  Judgement result;
  result.log_ratio = median_of(log_ratios);
  result.log_interval = sign_test_interval(log_ratios, options.confidence);
  const auto [low, high] = result.log_interval;
  const double band = std::max(options.tie_band, 2 * options.noise_floor);
  const bool one_sided = high < 0 || low > 0;
  if (one_sided && std::abs(result.log_ratio) > options.noise_floor)
    result.verdict = high < 0 ? Verdict::faster : Verdict::slower;
  else if (one_sided || (low >= -band && high <= band))
    result.verdict = Verdict::tie;
  return result;
}

double noise_of(std::span<const double> duplicate_log_ratios, double confidence) {
  const Interval interval = sign_test_interval(duplicate_log_ratios, confidence);
  return std::max(std::abs(interval.low), std::abs(interval.high));
}

}  // namespace attune::tune
