// Workloads out of files of others: do their operands fit each other?
#pragma once

#include "kernel/workload.h"

namespace attune {

/// Throws UserError for operands that the operator's own inference refuses, for outputs that are not what it infers,
/// and for sizes that cannot be; UnsupportedError for an operator that is not defined.
void check_workload(const Workload& workload);

}  // namespace attune
