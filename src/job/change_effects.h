// What each change of a plan saves, from runs of both plans in turn.
#pragma once

#include "job/compare_sessions.h"
#include "job/plan_regions.h"

#include <span>
#include <vector>

namespace attune {

/// What a changed workload takes and saves in a run of the model, what it costs around it included.
struct ChangeEffect {
  double own_ms = 0;             // its steps before, in one run
  std::vector<double> saved_ms;  // by round; below 0 it costs
  std::vector<double> own_after_ms;

  void add(const ChangeEffect& more);  // further rounds of the same change
  size_t rounds() const { return saved_ms.size(); }
  double median_saved_ms() const;
  /// Time over the time before, as if its own steps had made all of the difference: below 1 is faster.
  double ratio() const;
  Interval ratio_interval(double confidence) const;
};

std::vector<ChangeEffect> change_effects(const SessionComparison& rounds, std::span<const ChangedRegion> regions);

/// How far the medians of identical code differ between two sessions (ln): the mean over the steps given, by their
/// times. Nothing where there are too few.
std::optional<double> noise_between(const SessionComparison& rounds,
                                    std::span<const std::pair<size_t, size_t>> untouched);

}  // namespace attune
