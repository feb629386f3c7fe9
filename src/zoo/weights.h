// Reproducible random weights.
#pragma once

#include "graph/tensor.h"

#include <cstdint>
#include <string_view>

namespace attune::zoo {

enum class Distribution { normal, uniform };

/// How a parameter is drawn. `centred` makes the weights of each filter (a row of the first dimension) sum to zero, so
/// that the mean of its inputs does not matter.
struct Init {
  double mean = 0;
  double deviation = 1;
  Distribution distribution = Distribution::normal;
  bool centred = false;
};

/// A tensor of floats. The numbers depend on the seed and the name only: not on other tensors nor on threads.
Tensor random_weights(Dims dims, const Init& init, uint64_t seed, std::string_view name);

}  // namespace attune::zoo
