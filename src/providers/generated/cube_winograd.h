// Winograd convolutions: workloads, configurations and transformed weights.
#pragma once

#include "codegen/cube/winograd.h"
#include "providers/generated/cube_schedule.h"

namespace attune::generated {

struct WinogradProblem {
  cube::WinogradShape shape;
  cube::Epilogue epilogue;
  bool mirrored = false;  // as ProductProblem has it
};

std::variant<WinogradProblem, Refusal> winograd_problem(const Workload& workload);
/// Output tiles that are accurate enough, the best first.
std::vector<int> output_tiles(const WinogradProblem& problem);
std::vector<Config> winograd_configs(const WinogradProblem& problem, const ProductTarget& target);
cube::WinogradSchedule winograd_schedule(const WinogradProblem& problem, const ProductTarget& target,
                                         const Config& config);
Tensor transform_weights(const WinogradProblem& problem, const cube::WinogradSchedule& schedule, const Tensor& weights);

}  // namespace attune::generated
