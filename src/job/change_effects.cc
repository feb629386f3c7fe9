#include "job/change_effects.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr double kLeastRatio = 0.01;  // noise may save more than there is

double sum_of(const std::vector<double>& step_ms, std::span<const StepShare> steps) {
  double total = 0;
  for (const StepShare& one : steps) total += one.share * step_ms.at(one.step);
  return total;
}

double sum_of(const std::vector<double>& step_ms, const std::vector<size_t>& steps) {
  double total = 0;
  for (const size_t step : steps) total += step_ms.at(step);
  return total;
}

}  // namespace

void ChangeEffect::add(const ChangeEffect& more) {
  const auto all = static_cast<double>(rounds() + more.rounds());
  if (all > 0)
    own_ms = (own_ms * static_cast<double>(rounds()) + more.own_ms * static_cast<double>(more.rounds())) / all;
  saved_ms.insert(saved_ms.end(), more.saved_ms.begin(), more.saved_ms.end());
  own_after_ms.insert(own_after_ms.end(), more.own_after_ms.begin(), more.own_after_ms.end());
}

double ChangeEffect::median_saved_ms() const { return saved_ms.empty() ? 0 : median_of(saved_ms); }

double ChangeEffect::ratio() const { return own_ms > 0 ? std::max(kLeastRatio, 1 - median_saved_ms() / own_ms) : 1; }

Interval ChangeEffect::ratio_interval(double confidence) const {
  if (own_ms <= 0 || saved_ms.empty()) return {1, 1};
  const Interval saved = sign_test_interval(saved_ms, confidence);
  return {std::min(ratio(), std::max(kLeastRatio, 1 - saved.high / own_ms)),
          std::max(ratio(), std::max(kLeastRatio, 1 - saved.low / own_ms))};
}

std::vector<ChangeEffect> change_effects(const SessionComparison& rounds, std::span<const ChangedRegion> regions) {
  std::vector<ChangeEffect> effects;
  for (const ChangedRegion& region : regions) {
    ChangeEffect effect;
    std::vector<double> own;
    for (size_t i = 0; i < rounds.before_step_ms.size(); ++i) {
      const auto& before = rounds.before_step_ms[i];
      const auto& after = rounds.after_step_ms[i];
      own.push_back(sum_of(before, region.own_before));
      effect.own_after_ms.push_back(sum_of(after, region.own_after));
      effect.saved_ms.push_back(sum_of(before, region.before) - sum_of(after, region.after));
    }
    if (!own.empty()) effect.own_ms = median_of(own);
    effects.push_back(std::move(effect));
  }
  return effects;
}

std::optional<double> noise_between(const SessionComparison& rounds,
                                    std::span<const std::pair<size_t, size_t>> untouched) {
  constexpr double kLeastMs = 0.005;  // shorter ones are all noise
  constexpr size_t kLeastSteps = 5;
  double all_ms = 0, differing_ms = 0;
  size_t steps = 0;
  for (const auto& [before, after] : untouched) {
    std::vector<double> log_ratios, times;
    for (size_t i = 0; i < rounds.before_step_ms.size(); ++i) {
      const double first = rounds.before_step_ms[i].at(before), second = rounds.after_step_ms[i].at(after);
      if (first <= 0 || second <= 0) continue;
      times.push_back(first);
      log_ratios.push_back(std::log(second / first));
    }
    const double ms = times.empty() ? 0 : median_of(times);
    if (ms < kLeastMs) continue;
    ++steps;
    all_ms += ms;
    differing_ms += ms * std::abs(median_of(log_ratios));
  }
  if (steps < kLeastSteps) return std::nullopt;
  return differing_ms / all_ms;
}

}  // namespace attune
