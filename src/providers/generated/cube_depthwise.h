// Depthwise convolution: workloads, configurations and packed filters.
#pragma once

#include "codegen/cube/depthwise.h"
#include "kernel/provider.h"
#include "providers/generated/cube_schedule.h"

#include <variant>
#include <vector>

namespace attune::generated {

struct DepthwiseProblem {
  cube::DepthwiseShape shape;
  cube::Epilogue epilogue;
};

std::variant<DepthwiseProblem, Refusal> depthwise_problem(const Workload& workload);
std::vector<Config> depthwise_configs(const DepthwiseProblem& problem, const ProductTarget& target);
cube::DepthwiseSchedule depthwise_schedule(const ProductTarget& target, const Config& config);
Tensor pack_filters(const DepthwiseProblem& problem, const cube::DepthwiseSchedule& schedule, const Tensor& weights);

}  // namespace attune::generated
