// Configurations of matrix products: what may vary, what is good without a search, and the schedules they stand for.
#pragma once

#include "kernel/config.h"
#include "providers/generated/cube_product.h"

#include <vector>

namespace attune::generated {

/// What a product may be written for on this machine.
struct ProductTarget {
  cube::VectorIsa isa;
  bool amx = false;
  int threads = 1;
  int64_t l2_bytes = 1 << 20;
};

/// The default first, then a small sweep over tiles, orders and splits.
std::vector<Config> product_configs(const ProductProblem& problem, const ProductTarget& target);

/// "vectors" or "tiles".
bool uses_tiles(const Config& config);
/// Schedules of a config; UserError for values that make none.
cube::VectorSchedule vector_schedule(const ProductProblem& problem, const ProductTarget& target, const Config& config);
cube::TileSchedule tile_schedule(const ProductProblem& problem, const Config& config);

}  // namespace attune::generated
