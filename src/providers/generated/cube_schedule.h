// Configurations of matrix products: what may vary, what is good without a search, and the schedules they stand for.
#pragma once

#include "kernel/config.h"
#include "providers/generated/register_tiles.h"

#include <vector>

namespace attune::generated {

/// The default first, then a small sweep over tiles, orders and splits. Empty where the target lacks the instructions.
std::vector<Config> vector_configs(const ProductProblem& problem, const ProductTarget& target);
/// Whether rows further on can be asked for: they lie side by side.
bool can_fetch_rows(const ProductProblem& problem);
/// Whether results can be asked for ahead, or written past the caches by vectors of so many lanes.
bool can_place_results(const cube::ProductShape& shape, cube::Results results, int64_t lanes);
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
cube::Results results_in(const Config& config, const char* key);                     // cached where it is not there
inline const std::vector<std::string> kResults = {"cached", "ahead", "past_cache"};  // in the order of cube::Results
std::vector<Config> distinct(std::vector<Config> configs);
inline int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

}  // namespace attune::generated
