// Small tunable CPU kernels whose whole spaces are measured once, as tables for the searchers to be scored on.
#pragma once

#include "base/error.h"
#include "space/space.h"

#include <functional>
#include <memory>

namespace attune::bench {

/// One kernel on one shape. `run` computes with a configuration; `output` is what it wrote, to be compared with the
/// default's.
struct Problem {
  std::string name;         // of the table: "gemm_384"
  std::string description;  // for its first line
  Space space;
  std::function<void(const Config&)> run;
  std::function<std::vector<float>&()> output;
};

std::vector<Problem> gemm_problems();
std::vector<Problem> stencil_problems();
std::vector<Problem> softmax_problems();
std::vector<Problem> transpose_problems();

/// Numbers in [-1, 1) that are the same everywhere.
std::vector<float> random_floats(size_t count, uint64_t seed);
inline int64_t number(const Config& config, const std::string& name) { return std::stoll(config.at(name)); }

}  // namespace attune::bench
