#include "providers/generated/cube_schedule.h"

#include "codegen/cube/task_grid.h"
#include "providers/generated/config_values.h"
#include "providers/generated/vector_operands.h"

#include <algorithm>
#include <optional>

namespace attune::generated {
namespace {

using cube::Axis;
using cube::divide_up;

/// How open weights may be read, the better first: few rows do not pay for packing.
std::vector<const char*> weight_orders(const ProductProblem& problem) {
  if (!problem.shape.open) return {""};
  if (!weights_in_place(problem)) return {"packed"};
  constexpr int64_t kFewRows = 12;
  return problem.shape.rows <= kFewRows ? std::vector{"direct", "packed"} : std::vector{"packed", "direct"};
}

Config vector_config(RegisterTile tile, int64_t task_rows, int64_t task_columns, Axis inner, Axis split,
                     int64_t depth_block) {
  return {{"tile", tile_name(tile)},
          {"lanes", std::to_string(tile.lanes)},
          {"task_rows", std::to_string(task_rows)},
          {"task_columns", std::to_string(task_columns)},
          {"inner", axis_name(inner)},
          {"split", axis_name(split)},
          {"depth_block", std::to_string(depth_block)},
          {"unroll", "2"},
          {"prefetch", "0"},
          {"fetch_next", "0"},
          {"fetch_rows", "0"},
          {"results", "cached"}};
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
  const int64_t panel = tile.columns();
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
  Config config = vector_config(tile, rows, columns, Axis::rows, Axis::columns,
                                block < depth ? divide_up(depth, divide_up(depth, block)) : 0);
  config.insert_or_assign("fetch_next", std::to_string(1));
  return config;
}

void append_vector_configs(const ProductProblem& problem, const ProductTarget& target, std::vector<Config>& configs) {
  const cube::ProductShape& shape = problem.shape;
  const std::vector<RegisterTile> tiles = tiles_of_any_width(shape, target);
  const int64_t row_bytes = shape.depth * shape.taps * (bit_width(shape.src) / 8);
  const int64_t weight_bytes = row_bytes * shape.columns;
  std::vector<Config> later;
  // All comes from L2, and rows at large distances share few lines of L1.
  const LoadCosts streamed{0.15 * target.wide_turns, 0.2};
  std::vector<RegisterTile> by_share = tiles;  // whichever is quickest on the columns of one thread
  std::ranges::stable_sort(by_share, {}, [&](const RegisterTile& tile) {
    cube::ProductShape share = shape;
    share.columns = round_up(divide_up(shape.columns, target.threads), tile.columns());
    return tiling_cost(share, tile, target, streamed);
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
    const int64_t panel = tile.columns();
    const int64_t fair_columns = round_up(divide_up(shape.columns, threads), panel);
    for (const bool rows_first : {by_rows, !by_rows}) {
      // As many tasks as it takes, all alike: with one more short one, a thread would wait for the other.
      const int64_t most = rows_first ? fair : shape.rows;
      const int64_t rows = round_up(divide_up(most, divide_up(most, cached)), tile.rows);
      const int64_t columns = rows_first ? round_up(shape.columns, panel) : fair_columns;
      const Axis split = rows_first ? Axis::rows : Axis::columns;
      // Weights that fit beside the rows stay; else each panel passes all rows of a task.
      const Axis inner = weight_bytes <= target.l2_bytes / 2 && rows_first ? Axis::columns : Axis::rows;
      const Axis other = inner == Axis::rows ? Axis::columns : Axis::rows;
      for (const std::string_view order : weight_orders(problem)) {
        const int64_t some = order == "packed" ? packable_columns(problem, panel, columns) : columns;
        if (some == 0) continue;
        for (auto& [to, axis] : {std::pair{&configs, inner}, std::pair{&later, other}}) {
          to->push_back(vector_config(tile, rows, some, axis, split, 0));
          if (!order.empty()) to->back()["weights"] = order;
        }
      }
      if (!shape.open && !shape.by_table() && shape.src == DType::f32 && shape.dst == DType::f32 && shape.depth >= 768)
        later.push_back(vector_config(tile, rows, columns, inner, split, 256));
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

cube::Results results_in(const Config& config, const char* key) {
  if (config.count(key) == 0) return cube::Results::cached;
  const auto found = std::ranges::find(kResults, text_of(config, key));
  if (found == kResults.end())
    throw UserError("{} is '{}', expected {}", key, text_of(config, key), fmt::join(kResults, ", "));
  return static_cast<cube::Results>(found - kResults.begin());
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

namespace {

/// Rows that no second cache holds are asked for ahead; where they are near, that only takes instructions. Where they
/// take a good part of it, both are worth a try. In bf16 it was no gain: half of the bytes, and as many instructions.
std::vector<Config> with_rows_ahead(const ProductProblem& problem, const ProductTarget& target,
                                    std::vector<Config> configs) {
  const int64_t bytes = problem.shape.rows * problem.shape.src_stride * 4, cached = target.l2_bytes * target.threads;
  if (problem.shape.src != DType::f32 || !can_fetch_rows(problem) || 3 * bytes <= cached) return configs;
  std::vector<Config> all;
  for (Config& config : configs) {
    if (bytes <= cached) all.push_back(config);
    config.insert_or_assign("fetch_rows", std::to_string(1));
    all.push_back(std::move(config));
  }
  return all;
}

/// Results that no cache holds go past them, the same by the usual way behind: 1.35x of it for 64 to 256 channels at
/// 56², batch 8, with a residual on AMD. Not where weights stream: such products are bound by their weights.
std::vector<Config> with_results_past_cache(const ProductProblem& problem, std::vector<Config> configs) {
  const cube::ProductShape& shape = problem.shape;
  const int64_t bytes = shape.rows * shape.dst_stride * (bit_width(shape.dst) / 8);
  if (!exceeds_caches(bytes)) return configs;
  std::vector<Config> all;
  if (!configs.empty() && configs.front().at("fetch_next") != "0") all.push_back(configs.front());
  for (Config config : configs) {
    if (config.at("fetch_next") != "0" || config.at("depth_block") != "0" ||
        !can_place_results(shape, cube::Results::past_cache, number_of(config, "lanes", 1)))
      continue;
    config.insert_or_assign("results", "past_cache");
    all.push_back(std::move(config));
  }
  all.insert(all.end(), configs.begin(), configs.end());
  return all;
}

}  // namespace

std::vector<Config> vector_configs(const ProductProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  const bool has_instructions = problem.shape.src == DType::bf16 ? target.isa.native_bf16 : target.vectors;
  if (has_instructions) append_vector_configs(problem, target, configs);
  return distinct(with_results_past_cache(problem, with_rows_ahead(problem, target, std::move(configs))));
}

bool can_place_results(const cube::ProductShape& shape, cube::Results results, int64_t lanes) {
  if (results == cube::Results::cached) return true;
  if (shape.open || shape.dst_by_table) return false;
  return results == cube::Results::ahead ||
         (shape.dst_stride % lanes == 0 && (shape.groups == 1 || shape.columns % lanes == 0));
}

bool can_fetch_rows(const ProductProblem& problem) {
  const cube::ProductShape& shape = problem.shape;
  return !shape.open && !shape.by_table() && shape.src_step == 1;
}

cube::VectorSchedule vector_schedule(const ProductProblem& problem, const ProductTarget& target, const Config& config) {
  cube::VectorSchedule schedule;
  schedule.isa = target.isa;
  schedule.isa.lanes = lanes_in(config, "lanes", problem.shape, target);
  const RegisterTile tile = register_tile(config, "tile", schedule.isa.lanes);
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
  schedule.fetch_rows = config.count("fetch_rows") > 0 && number_of(config, "fetch_rows", 0) != 0;
  schedule.results = results_in(config, "results");
  require_panels_ahead(problem, schedule.fetch_next, schedule.inner);
  if (schedule.results != cube::Results::cached &&
      !can_place_results(problem.shape, schedule.results, schedule.isa.lanes))
    throw UserError("results={} needs constant weights and rows of whole vectors at equal distances",
                    text_of(config, "results"));
  if (schedule.results != cube::Results::cached && schedule.depth_block > 0)
    throw UserError("partial sums of blocks of the depth wait in the result: that needs results=cached");
  if (schedule.fetch_rows && !can_fetch_rows(problem))
    throw UserError("rows are asked for ahead only where they lie side by side and weights are constant");
  return schedule;
}

}  // namespace attune::generated
