// Inputs of a workload and what has to come of them, in plain order.
#pragma once

#include "kernel/parse_workload.h"

namespace attune::tune {

struct Example {
  uint64_t seed = 0;
  std::vector<Tensor> inputs;   // empty() where omitted
  std::vector<Tensor> outputs;  // empty() where omitted
};

/// Inputs by seed; outputs by the operator's reference kernel, or by a plain loop for the workloads that are no
/// operator of a model (layout conversions, gradients of convolution). Depends on the layouts of nothing.
Example make_example(const WorkloadCase& what, uint64_t seed);

/// The activations of `second` with the constants of `first`.
Example mix_examples(const WorkloadCase& what, const Example& first, const Example& second);

/// Where a case leaves contents open, ranges that suit its operator: indices within their axis, positive scales.
void suit_contents(WorkloadCase& what);

/// The case's workload with its outputs: types as written in the case, else those of the example's results.
Workload complete_workload(const WorkloadCase& what, const Example& example);

}  // namespace attune::tune
