// A kernel for f32 that serves operands of bf16: for processors that do not multiply bf16 any faster.
#pragma once

#include "kernel/kernel.h"
#include "kernel/workload.h"

#include <memory>

namespace attune::native {

/// `inner` is made for the same workload with f32 in place of bf16 everywhere, in plain layouts, and has one task.
std::unique_ptr<Kernel> widen_kernel(const Workload& workload, std::unique_ptr<Kernel> inner);

/// The workload that such an inner kernel is made for.
Workload widened_workload(const Workload& workload);

}  // namespace attune::native
