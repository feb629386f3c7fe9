// Convolutions with several taps on vector registers by bands of rows, in f32: workloads, configurations and weights.
#pragma once

#include "codegen/cube/band.h"
#include "providers/generated/cube_band.h"

namespace attune::generated {

std::variant<BandProblem, Refusal> rows_problem(const Workload& workload);
std::vector<Config> rows_configs(const BandProblem& problem, const ProductTarget& target);
cube::BandVectorSchedule rows_schedule(const BandProblem& problem, const ProductTarget& target, const Config& config);
Tensor pack_rows_weights(const BandProblem& problem, const cube::BandVectorSchedule& schedule, const Tensor& weights);

}  // namespace attune::generated
