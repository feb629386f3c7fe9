// What every tuning job of a model is told.
#pragma once

#include "bank/bank.h"
#include "job/compare_sessions.h"
#include "runtime/session.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace attune {

struct JobOptions {
  double budget_s = 60;     // wall clock, everything included
  int64_t most_trials = 0;  // 0: no limit
  std::string algorithm = "auto";
  Metric metric = Metric::latency;
  uint64_t seed = 1;
  SessionOptions session;  // how the model is run: providers, mode, dtype, threads
  Bank* bank = nullptr;    // where trials are kept and looked up; nullptr: nowhere
  std::function<bool()> stop = [] { return false; };
  /// What happens, as it happens; see docs/tuning.md for the events.
  std::function<void(const nlohmann::ordered_json&)> on_event = [](const nlohmann::ordered_json&) {};
};

}  // namespace attune
