// Configurations of products on AMX tiles.
#include "codegen/cube/task_grid.h"
#include "providers/generated/config_values.h"
#include "providers/generated/cube_schedule.h"

#include <algorithm>
#include <optional>
#include <set>

namespace attune::generated {
namespace {

using cube::Axis;
using cube::divide_up;

struct TileChoice {
  int down, across, height;
  int64_t task_rows, task_columns;
  bool packed;
  Axis inner, split;
  bool fetch_next = false;

  Config config() const {
    return {{"tiles", fmt::format("{}x{}", down, across)},
            {"tiles_height", std::to_string(height)},
            {"tiles_task_rows", std::to_string(task_rows)},
            {"tiles_task_columns", std::to_string(task_columns)},
            {"tiles_src", packed ? "packed" : "direct"},
            {"tiles_inner", axis_name(inner)},
            {"tiles_split", axis_name(split)},
            {"tiles_fetch_next", fetch_next ? "1" : "0"}};
  }
  /// What makes two choices different in kind, for a sweep that is cut short.
  std::string kind() const {
    return fmt::format("{}x{} {} {} {}", down, across, packed, axis_name(inner), axis_name(split));
  }
};

/// Heights of tiles: 16, and the one that gives each thread the same number of rows where 16 does not.
std::vector<int> tile_heights(int64_t rows, int64_t threads) {
  if (rows < 16) return {static_cast<int>(rows)};
  const int64_t share = divide_up(rows, threads);
  const auto even = static_cast<int>(divide_up(share, divide_up(share, 16)));
  return even == 16 ? std::vector<int>{16} : std::vector<int>{even, 16};
}

/// An estimate of the cycles that the slowest thread takes, which orders the sweep. A product of tiles takes a cycle a
/// row; a row of a tile is loaded in half a cycle from the first cache and in 4/3 from the second.
class TileCost {
 public:
  TileCost(const ProductProblem& problem, const ProductTarget& target) : target_(target), shape_(problem.shape) {
    steps_ = divide_up(shape_.depth, cube::kTileDepth) * shape_.taps;
    threads_ = threads_of_one(problem, target);
  }

  double operator()(const TileChoice& choice) const {
    const int64_t row_tasks = divide_up(shape_.rows, choice.task_rows);
    const int64_t panels = divide_up(shape_.columns, choice.across * int64_t{16});
    const int64_t task_panels = std::min(panels, divide_up(choice.task_columns, choice.across * int64_t{16}));
    const int64_t tasks = divide_up(row_tasks * divide_up(panels, task_panels), threads_);  // of one thread
    const int64_t task_rows = std::min(choice.task_rows, shape_.rows),
                  blocks = task_rows / (choice.down * choice.height);
    const int64_t rest = divide_up(task_rows - blocks * choice.down * choice.height, choice.height);
    double block_cycles = static_cast<double>(blocks) * step_cycles(choice, choice.down, task_rows);
    if (rest > 0) block_cycles += step_cycles(choice, static_cast<int>(rest), task_rows);
    double task = block_cycles * static_cast<double>(task_panels * steps_);
    // Results leave through memory; rows and weights come from where they lie, and rows are packed.
    task += 3.0 * static_cast<double>(task_rows * task_panels * choice.across);
    const double rows_bytes = static_cast<double>(task_rows * steps_ * cube::kTileDepth * 2);
    const double weight_bytes = static_cast<double>(task_panels * choice.across * 1024 * steps_);
    task += (rows_bytes + weight_bytes) / 16 + (choice.packed ? rows_bytes / 16 : 0);
    // Results that the cache does not hold leave in strips of a panel when rows are inside: pages are opened again for
    // each panel, and lines arrive one by one.
    constexpr double kStripCyclesOfByte = 0.4;
    const int64_t result_bytes = task_rows * task_panels * choice.across * 16 * (bit_width(shape_.dst) / 8);
    if (choice.inner == Axis::rows && task_panels > 1 && result_bytes > target_.l2_bytes)
      task += kStripCyclesOfByte * static_cast<double>(result_bytes);
    return task * static_cast<double>(tasks);
  }

 private:
  double step_cycles(const TileChoice& choice, int down, int64_t task_rows) const {
    constexpr double kNear = 0.5, kFar = 1.33, kCollides = 2;
    const double height = choice.height;
    // What stays while the inner loop passes is in the first cache, when it fits beside the rest.
    const int64_t held = steps_ * 1024 * (choice.inner == Axis::rows ? choice.across : choice.down);
    const bool stays = held <= target_.l1_bytes * 2 / 3;
    const bool few_rows = task_rows * steps_ * 64 <= target_.l1_bytes / 2;
    double row_load = few_rows || (stays && choice.inner == Axis::columns) ? kNear : kFar;
    const double weight_load = stays && choice.inner == Axis::rows ? kNear : kFar;
    // Rows at a distance of a power of two meet in few lines of the cache.
    if (!choice.packed && shape_.src_stride * 2 % 1024 == 0) row_load *= kCollides;
    const double products = down * choice.across * std::max(height, 8.0);
    return std::max(products, down * height * row_load + choice.across * 16 * weight_load) + 0.1 * products;
  }

  const ProductTarget& target_;
  const cube::ProductShape& shape_;
  int64_t steps_ = 1, threads_ = 1;
};

std::vector<TileChoice> all_choices(const ProductProblem& problem, const ProductTarget& target) {
  std::vector<TileChoice> choices;
  const cube::ProductShape& shape = problem.shape;
  const int64_t padded_depth = round_up(shape.depth, cube::kTileDepth) * shape.taps;
  const bool can_read_directly = !shape.by_table() && shape.depth % cube::kTileDepth == 0 && shape.src_step == 1;
  const int64_t threads = threads_of_one(problem, target), across_all = divide_up(shape.columns, 16);
  constexpr std::pair<int, int> kShapes[] = {{2, 2}, {1, 4}, {1, 3}, {3, 1}, {1, 2}, {1, 1}};
  for (const auto& [down, across] : kShapes) {
    if (across > across_all || (down > 1 && shape.rows <= 16)) continue;
    for (const Axis split : {Axis::rows, Axis::columns})
      for (const int height : tile_heights(shape.rows, split == Axis::rows ? threads : 1)) {
        const int64_t block = static_cast<int64_t>(down) * height, panel = across * int64_t{16};
        const int64_t held = std::max<int64_t>(kPackedBytes / (padded_depth * 2) / block, 1) * block;
        const int64_t fair = round_up(divide_up(shape.rows, split == Axis::rows ? threads : 1), height);
        const int64_t wide = round_up(split == Axis::rows ? shape.columns : divide_up(shape.columns, threads), panel);
        const int64_t columns = shape.open ? packable_columns(problem, panel, wide) : wide;
        if (columns == 0) continue;
        // All rows of a thread at once where they can be held, else even parts of them.
        const int64_t rows = round_up(divide_up(fair, divide_up(fair, held)), height);
        for (const int64_t task_rows : {rows, std::min(rows, 2 * block)})
          for (const bool packed : {true, false}) {
            if (!packed && !can_read_directly) continue;
            for (const Axis inner : {Axis::rows, Axis::columns})
              choices.push_back({down, across, height, task_rows, columns, packed, inner, split});
          }
      }
  }
  return choices;
}

/// As the streaming schedule of vectors: weights that no cache keeps arrive while they are used.
std::optional<TileChoice> streaming_choice(const ProductProblem& problem, const ProductTarget& target) {
  const cube::ProductShape& shape = problem.shape;
  const int64_t depth = round_up(shape.depth, cube::kTileDepth) * shape.taps;
  constexpr int64_t kBlock = 32;
  if (shape.open || depth * shape.columns * 2 <= target.l2_bytes / 4 || shape.rows < 2 * kBlock ||
      shape.columns < 2 * kBlock)
    return std::nullopt;
  const bool direct = !shape.by_table() && shape.depth % cube::kTileDepth == 0;
  const int64_t held =
      std::max<int64_t>((direct ? target.l2_bytes / 2 : kPackedBytes) / (depth * 2) / kBlock, 1) * kBlock;
  const int64_t rows = std::min(round_up(shape.rows, kBlock), held);
  const int64_t columns = round_up(divide_up(shape.columns, target.threads), kBlock);
  return TileChoice{2, 2, 16, rows, columns, !direct, Axis::rows, Axis::columns, true};
}

}  // namespace

int64_t packed_bytes(const ProductProblem& problem, int64_t tile_rows, int64_t task_rows, std::string_view src) {
  const cube::ProductShape& shape = problem.shape;
  if (src != "packed") return 0;
  return round_up(std::min(task_rows, shape.rows), tile_rows) / tile_rows * 1024 *
         divide_up(shape.depth, cube::kTileDepth) * shape.taps;
}

std::vector<Config> tile_configs(const ProductProblem& problem, const ProductTarget& target) {
  if (problem.shape.src != DType::bf16 || !target.amx) return {};
  std::vector<TileChoice> choices = all_choices(problem, target);
  const TileCost cost(problem, target);
  std::ranges::stable_sort(choices, {}, [&](const TileChoice& one) { return cost(one); });
  // The best of each kind, then the rest: the first few of a sweep shall differ.
  std::set<std::string> kinds;
  std::stable_partition(choices.begin(), choices.end(),
                        [&](const TileChoice& one) { return kinds.insert(one.kind()).second; });
  std::vector<Config> configs;
  if (const auto streaming = streaming_choice(problem, target)) configs.push_back(streaming->config());
  for (const TileChoice& one : choices) configs.push_back(one.config());
  return distinct(std::move(configs));
}

cube::TileSchedule tile_schedule(const ProductProblem& problem, const Config& config) {
  cube::TileSchedule schedule;
  const auto [down, across] = pair_of(config, "tiles");
  if (down < 1 || across < 1 || down * across + down + 1 > 8)
    throw UserError("{}x{} tiles of the result do not fit eight tile registers", down, across);
  schedule.tiles_down = static_cast<int>(down);
  schedule.tiles_across = static_cast<int>(across);
  schedule.tile_rows = static_cast<int>(number_of(config, "tiles_height", 1));
  if (schedule.tile_rows > 16) throw UserError("tiles_height is {}, a tile has at most 16", schedule.tile_rows);
  schedule.task_rows = round_up(number_of(config, "tiles_task_rows", 1), schedule.tile_rows);
  schedule.task_panels = divide_up(number_of(config, "tiles_task_columns", 1), schedule.panel_columns());
  schedule.pack_src = text_of(config, "tiles_src") == "packed";
  schedule.inner = axis_of(config, "tiles_inner");
  schedule.split = axis_of(config, "tiles_split");
  schedule.fetch_next = number_of(config, "tiles_fetch_next", 0) != 0;
  require_panels_ahead(problem, schedule.fetch_next, schedule.inner);
  const cube::ProductShape& shape = problem.shape;
  if (shape.open) {
    schedule.task_panels = std::min(schedule.task_panels, divide_up(shape.columns, schedule.panel_columns()));
    const int64_t columns = schedule.task_panels * schedule.panel_columns();
    if (packed_weight_bytes(problem, schedule.panel_columns(), columns) > kMostPackedBytes)
      throw UserError("{} columns of packed weights do not fit the stack", columns);
  }
  if (!schedule.pack_src && (shape.by_table() || shape.depth % cube::kTileDepth != 0 || shape.src_step != 1))
    throw UserError("tiles read rows where they lie only at equal distances and with a depth of whole tiles");
  if (packed_bytes(problem, schedule.tile_rows, schedule.task_rows, text_of(config, "tiles_src")) > kMostPackedBytes)
    throw UserError("{} packed rows do not fit the stack", schedule.task_rows);
  return schedule;
}

}  // namespace attune::generated
