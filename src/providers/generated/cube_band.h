// Convolutions with several taps on AMX tiles: workloads, configurations and packed weights.
#pragma once

#include "codegen/cube/band.h"
#include "providers/generated/cube_schedule.h"

namespace attune::generated {

struct BandProblem {
  cube::BandShape shape;
  ProductProblem product;  // as weights are packed for it
};

std::variant<BandProblem, Refusal> band_problem(const Workload& workload);
std::vector<Config> band_configs(const BandProblem& problem, const ProductTarget& target);
cube::BandSchedule band_schedule(const BandProblem& problem, const Config& config);
/// Whether tiles may run on from row to row.
bool can_join_rows(const cube::BandShape& shape);
Tensor pack_band_weights(const BandProblem& problem, const cube::BandSchedule& schedule, const Tensor& weights);

cube::DepthwiseAxis band_axis(const WindowAxis& axis);

inline constexpr int64_t kMostBandBytes = 1 << 20;  // on the stack

}  // namespace attune::generated
