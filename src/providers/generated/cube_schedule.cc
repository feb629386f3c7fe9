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

/// The accumulators leave room for a row of weights and a broadcast: a tile that
/// does not (7x4 of 32 registers) spills in the inner loop and runs at half of the speed.
constexpr RegisterTile kTiles512[] = {{6, 4}, {8, 3}, {9, 3}, {14, 2}, {12, 2}, {24, 1}, {5, 5}, {4, 6}};
constexpr RegisterTile kTiles256[] = {{6, 2}, {4, 3}, {12, 1}};

/// Multiply-adds that a tiling issues for one step of the depth, edges included, in cycles of two a cycle: what the
/// default minimises. Tiles of few accumulators wait for their own results, eight are in flight; loads are not quite
/// free beside the products, which makes square tiles better than long ones.
struct LoadCosts {
  double row, vector;
};
constexpr LoadCosts kCached{0.1, 0.1};
constexpr LoadCosts kStreamed{0.15, 0.2};  // all comes from L2, and rows at large distances share few lines of L1
double tiling_cost(const cube::ProductShape& shape, RegisterTile tile, int lanes, LoadCosts load = kCached) {
  const auto cost = [&](int64_t rows, int64_t vectors) {
    const auto products = static_cast<double>(rows * vectors);
    const auto row_loads = static_cast<double>(rows), vector_loads = static_cast<double>(vectors);
    return std::max({products / 2, 4.0, (row_loads + vector_loads) / 2}) + load.row * row_loads +
           load.vector * vector_loads;
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

/// How open weights may be read, the better first: few rows do not pay for packing.
std::vector<const char*> weight_orders(const ProductProblem& problem) {
  if (!problem.shape.open) return {""};
  if (!weights_in_place(problem)) return {"packed"};
  constexpr int64_t kFewRows = 12;
  return problem.shape.rows <= kFewRows ? std::vector{"direct", "packed"} : std::vector{"packed", "direct"};
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

/// Rows that pass a panel together, and the depth of it: they and two panels take half of L2.
struct StreamedBlock {
  int64_t rows, depth;
};

/// Where all rows leave room for a shallow block only, fewer of them pass at a time, and the panels come again for the
/// next ones: that costs less than to load and store partial sums at every block.
StreamedBlock streamed_block(const cube::ProductShape& shape, RegisterTile tile, int64_t panel, int64_t cached) {
  constexpr int64_t kDeep = 768, kFewestRows = 128;
  const int64_t wanted = std::min(shape.depth * shape.taps, kDeep);
  for (int64_t passes = 1;; ++passes) {
    const int64_t rows = round_up(divide_up(shape.rows, passes), tile.rows);
    const int64_t depth = cached / (2 * panel + std::min(shape.rows, rows)) / 64 * 64;
    if (depth >= wanted || rows < 2 * kFewestRows) return {rows, depth};
  }
}

/// Weights that no cache keeps between runs stream in while they are used: each thread reads its own columns, and rows
/// pass a panel while the next one arrives.
std::optional<Config> streaming_config(const ProductProblem& problem, const ProductTarget& target, RegisterTile tile) {
  const cube::ProductShape& shape = problem.shape;
  const int64_t panel = static_cast<int64_t>(tile.vectors) * target.isa.lanes;
  const int64_t element = bit_width(shape.src) / 8;
  const int64_t depth = shape.depth * shape.taps;
  constexpr int64_t kFewestPasses = 4;  // of a panel: below, its bytes are most of the work and nothing hides them
  if (shape.open) return std::nullopt;
  if (depth * shape.columns * element <= target.l2_bytes / 2 || shape.rows < kFewestPasses * tile.rows)
    return std::nullopt;
  const int64_t columns = round_up(divide_up(shape.columns, target.threads), panel);
  const bool can_block = !shape.by_table() && shape.src == DType::f32 && shape.dst == DType::f32;
  const auto [rows, block] = streamed_block(shape, tile, panel, target.l2_bytes / 2 / element);
  if (block < depth && (!can_block || block < 128)) return std::nullopt;
  Config config = vector_config(tile, target.isa.lanes, rows, columns, Axis::rows, Axis::columns,
                                block < depth ? divide_up(depth, divide_up(depth, block)) : 0);
  config.insert_or_assign("fetch_next", std::to_string(1));
  return config;
}

void append_vector_configs(const ProductProblem& problem, const ProductTarget& target, std::vector<Config>& configs) {
  const cube::ProductShape& shape = problem.shape;
  const int lanes = target.isa.lanes;
  const std::vector<RegisterTile> tiles = register_tiles(shape, target);
  const int64_t row_bytes = shape.depth * shape.taps * (bit_width(shape.src) / 8);
  const int64_t weight_bytes = row_bytes * shape.columns;
  std::vector<Config> later;
  std::vector<RegisterTile> by_share = tiles;  // whichever is quickest on the columns of one thread
  std::ranges::stable_sort(by_share, {}, [&](const RegisterTile& tile) {
    cube::ProductShape share = shape;
    share.columns = round_up(divide_up(shape.columns, target.threads), static_cast<int64_t>(tile.vectors) * lanes);
    return tiling_cost(share, tile, lanes, kStreamed);
  });
  for (const RegisterTile tile : by_share)
    if (auto config = streaming_config(problem, target, tile))
      (configs.empty() ? configs : later).push_back(std::move(*config));
  for (size_t i = 0; i < tiles.size(); ++i) {
    const RegisterTile tile = tiles[i];
    const int64_t threads = threads_of_one(problem, target);
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
      for (const std::string_view order : weight_orders(problem)) {
        const int64_t some = order == "packed" ? packable_columns(problem, panel, columns) : columns;
        if (some == 0) continue;
        for (auto& [to, axis] : {std::pair{&configs, inner}, std::pair{&later, other}}) {
          to->push_back(vector_config(tile, lanes, rows, some, axis, split, 0));
          if (!order.empty()) to->back()["weights"] = order;
        }
      }
      if (!shape.open && !shape.by_table() && shape.src == DType::f32 && shape.dst == DType::f32 && shape.depth >= 768)
        later.push_back(vector_config(tile, lanes, rows, columns, inner, split, 256));
    }
  }
  configs.insert(configs.end(), later.begin(), later.end());
}

}  // namespace

void require_panels_ahead(const ProductProblem& problem, bool fetch_next, Axis inner) {
  if (fetch_next && (inner != Axis::rows || problem.shape.open))
    throw UserError("the next panel is fetched while rows pass this one: that needs rows inside and constant weights");
}

Axis axis_of(const Config& config, const char* key) {
  const std::string_view text = text_of(config, key);
  if (text == "rows") return Axis::rows;
  if (text == "columns") return Axis::columns;
  throw UserError("{} is '{}', expected rows or columns", key, text);
}

const char* axis_name(Axis axis) { return axis == Axis::rows ? "rows" : "columns"; }

std::vector<Config> distinct(std::vector<Config> configs) {
  std::vector<Config> out;
  for (Config& config : configs)
    if (std::ranges::find(out, config) == out.end()) out.push_back(std::move(config));
  return out;
}

int64_t packable_columns(const ProductProblem& problem, int64_t panel, int64_t columns) {
  if (packed_weight_bytes(problem, panel, panel) > kMostPackedBytes) return 0;
  while (columns > panel && packed_weight_bytes(problem, panel, columns) > kPackedBytes) columns -= panel;
  return columns;
}

int64_t threads_of_one(const ProductProblem& problem, const ProductTarget& target) {
  return problem.shape.open && problem.shape.groups >= target.threads ? 1 : target.threads;
}

int64_t packed_weight_bytes(const ProductProblem& problem, int64_t panel_columns, int64_t task_columns) {
  const cube::ProductShape& shape = problem.shape;
  if (!shape.open) return 0;
  const int64_t depth = shape.src == DType::f32 ? shape.depth * 4 : round_up(shape.depth, cube::kTileDepth) * 2;
  return depth * round_up(std::min(task_columns, shape.columns), panel_columns);
}

bool weights_in_place(const ProductProblem& problem) {
  return problem.shape.open && problem.shape.open->column_stride == 1 && problem.shape.src == DType::f32;
}

std::vector<RegisterTile> register_tiles(const cube::ProductShape& shape, const ProductTarget& target) {
  const int lanes = target.isa.lanes;
  std::vector<RegisterTile> tiles(lanes == 16 ? std::vector<RegisterTile>(std::begin(kTiles512), std::end(kTiles512))
                                              : std::vector<RegisterTile>(std::begin(kTiles256), std::end(kTiles256)));
  for (RegisterTile& tile : tiles) {
    tile.rows = static_cast<int>(std::min<int64_t>(tile.rows, shape.rows));
    tile.vectors = static_cast<int>(std::min<int64_t>(tile.vectors, divide_up(shape.columns, lanes)));
  }
  std::ranges::stable_sort(tiles, {}, [&](const RegisterTile& tile) { return tiling_cost(shape, tile, lanes); });
  return tiles;
}

ProductTarget host_target() {
  ProductTarget target;
  const Isa isa = usable_isa();
  target.isa = {isa >= Isa::avx512 ? 16 : 8, isa >= Isa::avx512_bf16};
  target.vectors = isa >= Isa::avx2;
  target.amx = isa >= Isa::amx && request_amx();
  target.threads = thread_count();
  if (const auto l1 = data_cache(cpu_info(), 1)) target.l1_bytes = l1->size_bytes / std::max(1, l1->shared_by);
  if (const auto l2 = data_cache(cpu_info(), 2)) target.l2_bytes = l2->size_bytes / std::max(1, l2->shared_by);
  return target;
}

std::vector<Config> vector_configs(const ProductProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  const bool has_instructions = problem.shape.src == DType::bf16 ? target.isa.native_bf16 : target.vectors;
  if (has_instructions) append_vector_configs(problem, target, configs);
  return distinct(std::move(configs));
}

RegisterTile register_tile(const Config& config, const char* key, int lanes) {
  const auto [rows, columns] = pair_of(config, key);
  if (rows < 1 || rows > 30 || columns < lanes || columns % lanes != 0 || (rows + 1) * (columns / lanes) > 40)
    throw UserError("a register tile of {}x{} does not fit the registers", rows, columns);
  return {static_cast<int>(rows), static_cast<int>(columns / lanes)};
}

cube::VectorSchedule vector_schedule(const ProductProblem& problem, const ProductTarget& target, const Config& config) {
  cube::VectorSchedule schedule;
  schedule.isa = target.isa;
  const RegisterTile tile = register_tile(config, "tile", target.isa.lanes);
  schedule.tile_rows = tile.rows;
  schedule.tile_vectors = tile.vectors;
  const int64_t columns = schedule.panel_columns();
  schedule.task_rows = round_up(number_of(config, "task_rows", 1), schedule.tile_rows);
  schedule.task_panels = divide_up(number_of(config, "task_columns", 1), columns);
  schedule.depth_block = number_of(config, "depth_block", 0);
  if (problem.shape.open) {
    schedule.pack_weights = text_of(config, "weights") == "packed";
    schedule.task_panels = std::min(schedule.task_panels, divide_up(problem.shape.columns, columns));
    if (!schedule.pack_weights && !weights_in_place(problem))
      throw UserError("weights are read where they lie only in f32 and with columns side by side");
    if (schedule.pack_weights &&
        packed_weight_bytes(problem, columns, schedule.task_panels * columns) > kMostPackedBytes)
      throw UserError("{} columns of packed weights do not fit the stack", schedule.task_panels * columns);
  }
  if (schedule.depth_block > 0 && (problem.shape.open || problem.shape.by_table() || problem.shape.src != DType::f32 ||
                                   problem.shape.dst != DType::f32))
    throw UserError("depth_block splits the depth of f32 products with rows at equal distances only");
  if (schedule.depth_block >= problem.shape.depth) schedule.depth_block = 0;
  schedule.inner = axis_of(config, "inner");
  schedule.split = axis_of(config, "split");
  schedule.unroll = static_cast<int>(number_of(config, "unroll", 1));
  schedule.prefetch = static_cast<int>(number_of(config, "prefetch", 0));
  schedule.fetch_next = number_of(config, "fetch_next", 0) != 0;
  require_panels_ahead(problem, schedule.fetch_next, schedule.inner);
  return schedule;
}

}  // namespace attune::generated
