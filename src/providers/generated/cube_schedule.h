// Configurations of matrix products: what may vary, what is good without a search, and the schedules they stand for.
#pragma once

#include "kernel/config.h"
#include "providers/generated/cube_product.h"

#include <vector>

namespace attune::generated {

/// What a product may be written for on this machine.
struct ProductTarget {
  cube::VectorIsa isa;
  bool vectors = true;  // AVX2 with FMA, or more
  bool amx = false;
  int threads = 1;
  int64_t l2_bytes = 1 << 20;  // of one core
};

/// What this process may use.
ProductTarget host_target();

/// The default first, then a small sweep over tiles, orders and splits. Empty where the target lacks the instructions.
std::vector<Config> vector_configs(const ProductProblem& problem, const ProductTarget& target);
std::vector<Config> tile_configs(const ProductProblem& problem, const ProductTarget& target);

/// Bytes of packed rows that a task of a tile schedule keeps on the stack, and the most that it may.
int64_t packed_bytes(const ProductProblem& problem, int64_t tiles_down, int64_t tile_rows, int64_t task_rows,
                     std::string_view src);
inline constexpr int64_t kMostPackedBytes = 1 << 20;

/// Schedules of a config; UserError for values that make none. Rows and columns of a task are rounded up to whole
/// tiles.
cube::VectorSchedule vector_schedule(const ProductProblem& problem, const ProductTarget& target, const Config& config);
cube::TileSchedule tile_schedule(const ProductProblem& problem, const Config& config);

}  // namespace attune::generated
