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
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20;  // of one core
};

/// What this process may use.
ProductTarget host_target();

/// Rows and vectors of a register tile.
struct RegisterTile {
  int rows, vectors;
};
/// The one that a config names, such as "6x64": rows and columns. Throws UserError where registers do not hold it.
RegisterTile register_tile(const Config& config, const char* key, int lanes);
/// Those that suit a product, the best by an estimate first.
std::vector<RegisterTile> register_tiles(const cube::ProductShape& shape, const ProductTarget& target);

/// The default first, then a small sweep over tiles, orders and splits. Empty where the target lacks the instructions.
std::vector<Config> vector_configs(const ProductProblem& problem, const ProductTarget& target);
std::vector<Config> tile_configs(const ProductProblem& problem, const ProductTarget& target);

/// Bytes of packed rows that a task of a tile schedule keeps on the stack, and the most that it may.
int64_t packed_bytes(const ProductProblem& problem, int64_t tile_rows, int64_t task_rows, std::string_view src);
/// Bytes of open weights that a task packs on the stack, for panels of so many columns; 0 where they are packed ahead.
int64_t packed_weight_bytes(const ProductProblem& problem, int64_t panel_columns, int64_t task_columns);
inline constexpr int64_t kMostPackedBytes = 1 << 20;
inline constexpr int64_t kPackedBytes = kMostPackedBytes / 2;  // what a sweep packs
/// As many columns of a task, a multiple of a panel's, as weights can be packed for; 0: not even one panel's.
int64_t packable_columns(const ProductProblem& problem, int64_t panel, int64_t columns);
/// Threads that one product of a batch is shared out to.
int64_t threads_of_one(const ProductProblem& problem, const ProductTarget& target);
/// Whether open weights can be read where they lie.
bool weights_in_place(const ProductProblem& problem);

/// Schedules of a config; UserError for values that make none. Rows and columns of a task are rounded up to whole
/// tiles.
cube::VectorSchedule vector_schedule(const ProductProblem& problem, const ProductTarget& target, const Config& config);
cube::TileSchedule tile_schedule(const ProductProblem& problem, const Config& config);

/// UserError where a schedule cannot fetch the next panel.
void require_panels_ahead(const ProductProblem& problem, bool fetch_next, cube::Axis inner);

// Values of configs.
cube::Axis axis_of(const Config& config, const char* key);
const char* axis_name(cube::Axis axis);
std::vector<Config> distinct(std::vector<Config> configs);
inline int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

}  // namespace attune::generated
