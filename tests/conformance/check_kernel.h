// Runs one kernel on one example and checks all that a kernel promises (src/kernel/kernel.h).
#pragma once

#include "conformance/example.h"
#include "kernel/kernel.h"

namespace attune::testing {

/// Empty when the kernel keeps its promises, else the first that it breaks:
///
/// - the results, within result_tolerance; twice, the second time equal in every bit though outputs and workspace held
///   something else before, and computed in parts when there are several tasks
/// - in place of an input, where it offers that, the same bits again
/// - nothing written beside outputs and workspace, inputs left alone, padding channels zero
std::string check_kernel(const Kernel& kernel, const Workload& workload, const Example& example);

}  // namespace attune::testing
