// The workload that converts a tensor from one memory layout to another.
#pragma once

#include "kernel/workload.h"

namespace attune {

inline Workload reorder_workload(TensorSpec from, TensorSpec to) {
  Workload workload;
  workload.domain = "attune";
  workload.op = "Reorder";
  workload.version = 1;
  workload.inputs = {std::move(from)};
  workload.outputs = {std::move(to)};
  return workload;
}

inline bool is_reorder(const Workload& workload) { return workload.domain == "attune" && workload.op == "Reorder"; }

}  // namespace attune
