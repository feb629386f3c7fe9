// --precision auto on the command line: the accuracy budget, the time for it, and opening a model under them.
#pragma once

#include "cli/input_arguments.h"
#include "cli/output.h"
#include "cli/runner_arguments.h"
#include "job/precision/choose_precision.h"

#include <optional>

namespace attune::cli {

struct PrecisionArguments {
  std::optional<double> accuracy_budget;  // --accuracy-budget
  std::string budget;                     // --budget, of the verbs that have none of their own; empty: 60s
};

/// Adds --accuracy-budget.
void add_accuracy_budget(CLI::App& verb, PrecisionArguments& arguments);
/// Adds --accuracy-budget and --budget.
void add_precision(CLI::App& verb, PrecisionArguments& arguments);

/// Throws UserError where the flags do not go with each other.
void check_precision(const RunnerArguments& runner, const PrecisionArguments& arguments);

/// Chooses a precision for a model on the inputs given or on random ones. Shows progress on a terminal and what came of
/// it; Ctrl-C ends the command.
PrecisionOutcome choose_precision(const std::string& model, const SessionOptions& session, const InputArguments& inputs,
                                  const PrecisionArguments& arguments, double budget_s);

/// As open_session(), or with the precision chosen where --precision auto asks for that.
Session open_session(const std::string& model, const RunnerArguments& runner, const PrecisionArguments& arguments,
                     const InputArguments& inputs);

/// What a session states of its precision, line by line.
Table precision_table(const PrecisionStatement& statement);

}  // namespace attune::cli
