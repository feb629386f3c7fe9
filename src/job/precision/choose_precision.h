// Precision as something to tune: bf16 where it is faster and the outputs stay within an accuracy budget, f32
// elsewhere.
#pragma once

#include "job/precision/session_trials.h"

namespace attune {

inline constexpr double kDefaultAccuracyBudget = 0.01;

struct PrecisionOptions {
  double accuracy_budget = kDefaultAccuracyBudget;
  double budget_s = 60;  // wall clock
  std::function<bool()> stop = [] { return false; };
  std::function<void(const std::string& what)> on_progress = [](const std::string&) {};
  CompareSessions compare = compare_sessions;
};

struct PrecisionOutcome {
  Session session;                  // the one to use; it states its precision
  SessionOptions options;           // that open the model in that precision
  std::vector<KnownOutputs> known;  // what its error was measured on
  bool interrupted = false;         // before there was a decision
};

/// The options are those of the model in f32.
PrecisionOutcome choose_precision(Graph graph, const SessionOptions& session, const PrecisionInputs& inputs,
                                  const PrecisionOptions& options);

/// Measures a session that differs from what was chosen by its kernels. Within the budget it states its own error and
/// that is true; otherwise nothing happens to it.
bool restate_precision(Session& session, const PrecisionOutcome& chosen);

}  // namespace attune
