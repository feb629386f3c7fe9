// Tuning without a model: operators out of dumps, whose winners are judged alone and go into the bank.
#pragma once

#include "job/opat.h"
#include "job/operator_dump.h"

namespace attune {

/// The operators of dumps, equal ones merged; what runs them now is what a plan on this machine would choose. Throws
/// UserError for one that no provider has a kernel for.
std::vector<TuningTask> dump_tasks(std::span<const OperatorDump> dumps, const SessionOptions& session);

/// Times what runs the tasks now, so that the budget goes where most can be gained, then searches and judges them. The
/// result has no plans and no comparison.
TuningResult tune_operators(std::vector<TuningTask> tasks, const OpatOptions& options);

}  // namespace attune
