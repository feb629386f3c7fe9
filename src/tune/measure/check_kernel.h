// Runs one kernel on one example and checks all that a kernel promises (src/kernel/kernel.h). The conformance suite and
// the measuring process share it.
#pragma once

#include "kernel/kernel.h"
#include "tune/measure/example.h"

namespace attune::tune {

struct KernelCheck {
  std::string problem;   // the first promise that is broken; empty: none
  double max_error = 0;  // of any output, as a share of its largest magnitude
};

/// Who runs the tasks of the first run: the caller alone, or the pool as in a session.
enum class TaskSpread { caller, pool };

/// - the results, within result_tolerance; twice, the second time equal in every bit though outputs and workspace held
///   something else before, and computed in parts when there are several tasks
/// - in place of an input, where it offers that, the same bits again
/// - nothing written beside outputs and workspace, inputs left alone, padding channels zero
KernelCheck check_kernel(const Kernel& kernel, const Workload& workload, const Example& example,
                         TaskSpread spread = TaskSpread::caller);

/// Runs on `first`, then with the activations of `second` (which has the same constants) at the same addresses: a
/// result that was kept from the first run is found.
KernelCheck check_second_inputs(const Kernel& kernel, const Workload& workload, const Example& first,
                                const Example& second);

/// All tasks, spread over the pool as a session does it.
void run_on_pool(const Kernel& kernel, const KernelArguments& arguments);

}  // namespace attune::tune
