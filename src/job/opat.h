// Operator tuning: every workload of a model is searched, measured, verified and remembered; the winners make a plan,
// which is kept when the whole model is faster with it.
#pragma once

#include "bank/bank.h"
#include "job/tuning_result.h"

#include <nlohmann/json_fwd.hpp>

#include <functional>

namespace attune {

struct OpatOptions {
  double budget_s = 60;     // wall clock, everything included
  int64_t most_trials = 0;  // 0: no limit
  std::string algorithm = "auto";
  uint64_t seed = 1;
  SessionOptions session;  // how the model is run: providers, mode, dtype, threads
  Bank* bank = nullptr;    // where trials are kept and looked up; nullptr: nowhere
  tune::MeasurerOptions measurer;
  std::function<bool()> stop = [] { return false; };
  /// What happens, as it happens; see docs/tuning.md for the events.
  std::function<void(const nlohmann::ordered_json&)> on_event = [](const nlohmann::ordered_json&) {};
};

/// What would be tuned: tasks with their spaces, nothing measured but the model itself.
std::vector<TaskSearch> plan_opat(const Session& session, std::span<const Tensor> inputs, const OpatOptions& options);

std::vector<TaskSearch> plan_opat(std::vector<TuningTask> tasks, const OpatOptions& options);

struct OpatOutcome {
  TuningResult result;
  Session session;  // the one to use: tuned when it is faster, the default else
};

/// `make_session` opens the model with the given options; called twice.
OpatOutcome run_opat(const std::function<Session(const SessionOptions&)>& make_session,
                     const std::function<std::vector<Tensor>(const Graph&)>& make_inputs, const OpatOptions& options);

}  // namespace attune
