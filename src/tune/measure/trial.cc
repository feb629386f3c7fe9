#include "tune/measure/trial.h"

#include "base/statistics.h"

#include <algorithm>

namespace attune::tune {

std::string to_text(const Trial& trial) { return trial.provider + " {" + attune::to_text(trial.config) + "}"; }

std::string_view stage_name(Stage stage) {
  constexpr std::string_view kNames[] = {"reference", "build", "verify", "time"};
  return kNames[static_cast<size_t>(stage)];
}

double TrialResult::log_ratio() const { return log_ratios.empty() ? 0 : median_of(log_ratios); }
double TrialResult::time_ns() const { return candidate_ns.empty() ? 0 : median_of(candidate_ns); }

}  // namespace attune::tune
