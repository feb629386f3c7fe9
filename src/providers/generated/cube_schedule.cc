#include "providers/generated/cube_schedule.h"

#include "base/parallel.h"
#include "codegen/cube/task_grid.h"
#include "codegen/isa.h"
#include "device/cpu/amx.h"
#include "device/cpu/cpu_info.h"
#include "providers/generated/config_values.h"

#include <algorithm>
#include <optional>

namespace attune::generated {
namespace {

using cube::Axis;
using cube::divide_up;

Axis axis_of(const Config& config, const char* key) {
  const std::string_view text = text_of(config, key);
  if (text == "rows") return Axis::rows;
  if (text == "columns") return Axis::columns;
  throw UserError("{} is '{}', expected rows or columns", key, text);
}

int64_t round_up(int64_t value, int64_t step) { return divide_up(value, step) * step; }

const char* axis_name(Axis axis) { return axis == Axis::rows ? "rows" : "columns"; }

/// Rows and vectors of a register tile. The accumulators leave room for a row of weights and a broadcast: a tile that
/// does not (7x4 of 32 registers) spills in the inner loop and runs at half of the speed.
struct RegisterTile {
  int rows, vectors;
};
constexpr RegisterTile kTiles512[] = {{6, 4}, {8, 3}, {9, 3}, {14, 2}, {12, 2}, {24, 1}, {5, 5}, {4, 6}};
constexpr RegisterTile kTiles256[] = {{6, 2}, {4, 3}, {12, 1}};

/// Multiply-adds that a tiling issues for one step of the depth, edges included, in cycles of two a cycle: what the
/// default minimises. Tiles of few accumulators wait for their own results, eight are in flight; loads are not quite
/// free beside the products, which makes square tiles better than long ones.
double tiling_cost(const cube::ProductShape& shape, RegisterTile tile, int lanes) {
  const auto cost = [&](int64_t rows, int64_t vectors) {
    const double products = static_cast<double>(rows * vectors);
    const double loads = static_cast<double>(rows + vectors);
    return std::max({products / 2, 4.0, loads / 2}) + 0.1 * loads;
  };
  const int64_t vectors = divide_up(shape.columns, lanes);
  const int64_t whole = vectors / tile.vectors, edge = vectors % tile.vectors;
  const int64_t down = shape.rows / tile.rows, rest = shape.rows % tile.rows;
  double sum = static_cast<double>(down * whole) * cost(tile.rows, tile.vectors);
  if (edge > 0) sum += static_cast<double>(down) * cost(tile.rows, edge);
  if (rest > 0) sum += static_cast<double>(whole) * cost(rest, tile.vectors);
  if (rest > 0 && edge > 0) sum += cost(rest, edge);
  return sum;
}

Config vector_config(RegisterTile tile, int lanes, int64_t task_rows, int64_t task_columns, Axis inner, Axis split,
                     int64_t depth_block) {
  return {{"tile", fmt::format("{}x{}", tile.rows, tile.vectors * lanes)},
          {"task_rows", std::to_string(task_rows)},
          {"task_columns", std::to_string(task_columns)},
          {"inner", axis_name(inner)},
          {"split", axis_name(split)},
          {"depth_block", std::to_string(depth_block)},
          {"unroll", "2"},
          {"prefetch", "0"},
          {"fetch_next", "0"}};
}

/// Weights that no cache keeps between runs stream in while they are used: each thread reads its own columns, every row
/// passes a panel while the next one arrives, and two panels and the rows share L2.
std::optional<Config> streaming_config(const ProductProblem& problem, const ProductTarget& target, RegisterTile tile) {
  const cube::ProductShape& shape = problem.shape;
  const int64_t panel = static_cast<int64_t>(tile.vectors) * target.isa.lanes;
  const int64_t element = bit_width(shape.src) / 8;
  const int64_t depth = shape.depth * shape.taps;
  constexpr int64_t kFewestPasses = 4;  // of a panel: below, its bytes are most of the work and nothing hides them
  if (depth * shape.columns * element <= target.l2_bytes / 2 || shape.rows < kFewestPasses * tile.rows)
    return std::nullopt;
  const int64_t columns = round_up(divide_up(shape.columns, target.threads), panel);
  const int64_t rows = round_up(shape.rows, tile.rows);
  const bool can_block = !shape.by_table() && shape.src == DType::f32 && shape.dst == DType::f32;
  const int64_t held = (2 * panel + std::min(shape.rows, rows)) * element;  // bytes for each step of the depth
  const int64_t block = target.l2_bytes * 3 / 4 / held / 64 * 64;
  if (block < depth && (!can_block || block < 128)) return std::nullopt;
  Config config = vector_config(tile, target.isa.lanes, rows, columns, Axis::rows, Axis::columns,
                                block < depth ? divide_up(depth, divide_up(depth, block)) : 0);
  config.insert_or_assign("fetch_next", std::to_string(1));
  return config;
}

void append_vector_configs(const ProductProblem& problem, const ProductTarget& target, std::vector<Config>& configs) {
  const cube::ProductShape& shape = problem.shape;
  const int lanes = target.isa.lanes;
  std::vector<RegisterTile> tiles(lanes == 16 ? std::vector<RegisterTile>(std::begin(kTiles512), std::end(kTiles512))
                                              : std::vector<RegisterTile>(std::begin(kTiles256), std::end(kTiles256)));
  for (RegisterTile& tile : tiles) {
    tile.rows = static_cast<int>(std::min<int64_t>(tile.rows, shape.rows));
    tile.vectors = static_cast<int>(std::min<int64_t>(tile.vectors, divide_up(shape.columns, lanes)));
  }
  std::ranges::stable_sort(tiles, {}, [&](const RegisterTile& tile) { return tiling_cost(shape, tile, lanes); });
  const int64_t row_bytes = shape.depth * shape.taps * (bit_width(shape.src) / 8);
  const int64_t weight_bytes = row_bytes * shape.columns;
  std::vector<Config> later;
  std::vector<RegisterTile> by_share = tiles;  // whichever is quickest on the columns of one thread
  std::ranges::stable_sort(by_share, {}, [&](const RegisterTile& tile) {
    cube::ProductShape share = shape;
    share.columns = round_up(divide_up(shape.columns, target.threads), static_cast<int64_t>(tile.vectors) * lanes);
    return tiling_cost(share, tile, lanes);
  });
  for (const RegisterTile tile : by_share)
    if (auto config = streaming_config(problem, target, tile))
      (configs.empty() ? configs : later).push_back(std::move(*config));
  for (size_t i = 0; i < tiles.size(); ++i) {
    const RegisterTile tile = tiles[i];
    const int64_t threads = target.threads;
    const bool by_rows = shape.rows >= 4 * tile.rows * threads;
    // Rows of a task: a share of them for each thread, no more than half of L2 holds.
    const int64_t fair = round_up(divide_up(shape.rows, threads), tile.rows);
    const int64_t cached = std::max<int64_t>(target.l2_bytes / 2 / row_bytes / tile.rows, 1) * tile.rows;
    const int64_t panel = static_cast<int64_t>(tile.vectors) * lanes;
    const int64_t fair_columns = round_up(divide_up(shape.columns, threads), panel);
    for (const bool rows_first : {by_rows, !by_rows}) {
      const int64_t rows = rows_first ? std::min(fair, cached) : round_up(std::min(shape.rows, cached), tile.rows);
      const int64_t columns = rows_first ? round_up(shape.columns, panel) : fair_columns;
      const Axis split = rows_first ? Axis::rows : Axis::columns;
      // Weights that fit beside the rows stay; else each panel passes all rows of a task.
      const Axis inner = weight_bytes <= target.l2_bytes / 2 && rows_first ? Axis::columns : Axis::rows;
      const Axis other = inner == Axis::rows ? Axis::columns : Axis::rows;
      configs.push_back(vector_config(tile, lanes, rows, columns, inner, split, 0));
      later.push_back(vector_config(tile, lanes, rows, columns, other, split, 0));
      if (!shape.by_table() && shape.src == DType::f32 && shape.dst == DType::f32 && shape.depth >= 768)
        later.push_back(vector_config(tile, lanes, rows, columns, inner, split, 256));
    }
  }
  configs.insert(configs.end(), later.begin(), later.end());
}

Config tile_config(int down, int across, int tile_rows, int64_t task_rows, int64_t task_columns, bool packed,
                   Axis inner, Axis split) {
  return {{"tiles", fmt::format("{}x{}", down, across)},
          {"tiles_height", std::to_string(tile_rows)},
          {"tiles_task_rows", std::to_string(task_rows)},
          {"tiles_task_columns", std::to_string(task_columns)},
          {"tiles_src", packed ? "packed" : "direct"},
          {"tiles_inner", axis_name(inner)},
          {"tiles_split", axis_name(split)},
          {"tiles_fetch_next", "0"}};
}

std::vector<Config> distinct(std::vector<Config> configs) {
  std::vector<Config> out;
  for (Config& config : configs)
    if (std::ranges::find(out, config) == out.end()) out.push_back(std::move(config));
  return out;
}

constexpr int64_t kPackedBytes = kMostPackedBytes / 2;  // what a sweep packs

/// Heights of tiles: 16, and the one that covers the rows with the least left over.
std::vector<int> tile_heights(int64_t rows, int down) {
  int best = 16;
  const auto waste = [&](int height) { return round_up(rows, static_cast<int64_t>(height) * down) - rows; };
  for (int height = 15; height >= 8; --height)
    if (waste(height) < waste(best)) best = height;
  if (rows < 16) return {static_cast<int>(rows)};
  return best == 16 ? std::vector<int>{16} : std::vector<int>{16, best};
}

/// As streaming_config, on AMX tiles.
std::optional<Config> streaming_tiles(const ProductProblem& problem, const ProductTarget& target) {
  const cube::ProductShape& shape = problem.shape;
  const int64_t depth = round_up(shape.depth, cube::kTileDepth) * shape.taps;
  constexpr int64_t kBlock = 32;
  if (depth * shape.columns * 2 <= target.l2_bytes / 4 || shape.rows < 2 * kBlock || shape.columns < 2 * kBlock)
    return std::nullopt;
  const bool direct = !shape.by_table() && shape.depth % cube::kTileDepth == 0;
  const int64_t held =
      std::max<int64_t>((direct ? target.l2_bytes / 2 : kPackedBytes) / (depth * 2) / kBlock, 1) * kBlock;
  const int64_t rows = std::min(round_up(shape.rows, kBlock), held);
  Config config = tile_config(2, 2, 16, rows, round_up(divide_up(shape.columns, target.threads), kBlock), !direct,
                              Axis::rows, Axis::columns);
  config.insert_or_assign("tiles_fetch_next", std::to_string(1));
  return config;
}

void append_tile_configs(const ProductProblem& problem, const ProductTarget& target, std::vector<Config>& configs) {
  const cube::ProductShape& shape = problem.shape;
  const int64_t padded_depth = round_up(shape.depth, cube::kTileDepth) * shape.taps;
  const bool can_read_directly = !shape.by_table() && shape.depth % cube::kTileDepth == 0;
  const int64_t across_all = divide_up(shape.columns, 16);
  if (auto config = streaming_tiles(problem, target)) configs.push_back(std::move(*config));
  constexpr std::pair<int, int> kShapes[] = {{2, 2}, {1, 4}, {1, 3}, {3, 1}, {1, 2}, {1, 1}};
  for (const auto& [down, across] : kShapes) {
    if (across > across_all || (down > 1 && shape.rows <= 16)) continue;
    for (const int height : tile_heights(shape.rows, down)) {
      const int64_t block = static_cast<int64_t>(down) * height, panel = across * int64_t{16};
      const int64_t held = std::max<int64_t>(kPackedBytes / (padded_depth * 2) / block, 1) * block;
      for (const Axis split : {Axis::rows, Axis::columns}) {
        const int64_t fair = round_up(divide_up(shape.rows, target.threads), block);
        const int64_t rows = split == Axis::rows ? std::min(fair, held) : std::min(round_up(shape.rows, block), held);
        const int64_t columns = split == Axis::rows ? round_up(shape.columns, panel)
                                                    : round_up(divide_up(shape.columns, target.threads), panel);
        for (const int64_t task_rows : {rows, std::min(rows, 2 * block)})
          for (const bool packed : {true, false}) {
            if (!packed && !can_read_directly) continue;
            for (const Axis inner : {Axis::rows, Axis::columns})
              configs.push_back(tile_config(down, across, height, task_rows, columns, packed, inner, split));
          }
      }
    }
  }
}

}  // namespace

int64_t packed_bytes(const ProductProblem& problem, int64_t tiles_down, int64_t tile_rows, int64_t task_rows,
                     std::string_view src) {
  const cube::ProductShape& shape = problem.shape;
  if (src != "packed") return 0;
  return std::min(round_up(task_rows, tiles_down * tile_rows), round_up(shape.rows, tile_rows)) / tile_rows * 1024 *
         (round_up(shape.depth, cube::kTileDepth) / cube::kTileDepth) * shape.taps;
}

ProductTarget host_target() {
  ProductTarget target;
  const Isa isa = usable_isa();
  target.isa = {isa >= Isa::avx512 ? 16 : 8, isa >= Isa::avx512_bf16};
  target.vectors = isa >= Isa::avx2;
  target.amx = isa >= Isa::amx && request_amx();
  target.threads = thread_count();
  if (const auto l2 = data_cache(cpu_info(), 2)) target.l2_bytes = l2->size_bytes / std::max(1, l2->shared_by);
  return target;
}

std::vector<Config> vector_configs(const ProductProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  const bool has_instructions = problem.shape.src == DType::bf16 ? target.isa.native_bf16 : target.vectors;
  if (has_instructions) append_vector_configs(problem, target, configs);
  return distinct(std::move(configs));
}

std::vector<Config> tile_configs(const ProductProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  if (problem.shape.src == DType::bf16 && target.amx) append_tile_configs(problem, target, configs);
  return distinct(std::move(configs));
}

cube::VectorSchedule vector_schedule(const ProductProblem& problem, const ProductTarget& target, const Config& config) {
  cube::VectorSchedule schedule;
  schedule.isa = target.isa;
  const auto [rows, columns] = pair_of(config, "tile");
  const int lanes = target.isa.lanes;
  if (rows < 1 || rows > 30 || columns < lanes || columns % lanes != 0 || (rows + 1) * (columns / lanes) > 40)
    throw UserError("a register tile of {}x{} does not fit the registers", rows, columns);
  schedule.tile_rows = static_cast<int>(rows);
  schedule.tile_vectors = static_cast<int>(columns / lanes);
  schedule.task_rows = round_up(number_of(config, "task_rows", 1), rows);
  schedule.task_panels = divide_up(number_of(config, "task_columns", 1), columns);
  schedule.depth_block = number_of(config, "depth_block", 0);
  if (schedule.depth_block > 0 &&
      (problem.shape.by_table() || problem.shape.src != DType::f32 || problem.shape.dst != DType::f32))
    throw UserError("depth_block splits the depth of f32 products with rows at equal distances only");
  if (schedule.depth_block >= problem.shape.depth) schedule.depth_block = 0;
  schedule.inner = axis_of(config, "inner");
  schedule.split = axis_of(config, "split");
  schedule.unroll = static_cast<int>(number_of(config, "unroll", 1));
  schedule.prefetch = static_cast<int>(number_of(config, "prefetch", 0));
  schedule.fetch_next = number_of(config, "fetch_next", 0) != 0;
  if (schedule.fetch_next && schedule.inner != Axis::rows)
    throw UserError("fetch_next brings in the panel after the one that rows pass: it needs inner=rows");
  return schedule;
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
  schedule.task_rows = round_up(number_of(config, "tiles_task_rows", 1), schedule.block_rows());
  schedule.task_panels = divide_up(number_of(config, "tiles_task_columns", 1), schedule.panel_columns());
  schedule.pack_src = text_of(config, "tiles_src") == "packed";
  schedule.inner = axis_of(config, "tiles_inner");
  schedule.split = axis_of(config, "tiles_split");
  schedule.fetch_next = number_of(config, "tiles_fetch_next", 0) != 0;
  if (schedule.fetch_next && schedule.inner != Axis::rows)
    throw UserError("tiles_fetch_next brings in the panel after the one that rows pass: it needs tiles_inner=rows");
  const cube::ProductShape& shape = problem.shape;
  if (!schedule.pack_src && (shape.by_table() || shape.depth % cube::kTileDepth != 0))
    throw UserError("tiles read rows where they lie only at equal distances and with a depth of whole tiles");
  if (packed_bytes(problem, down, schedule.tile_rows, schedule.task_rows, text_of(config, "tiles_src")) >
      kMostPackedBytes)
    throw UserError("{} packed rows do not fit the stack", schedule.task_rows);
  return schedule;
}

}  // namespace attune::generated
