#include "providers/generated/cube_generators.h"

#include "providers/generated/cube_band.h"
#include "providers/generated/cube_depthwise.h"
#include "providers/generated/cube_rows.h"
#include "providers/generated/cube_schedule.h"
#include "providers/generated/cube_winograd.h"
#include "providers/generated/sweep_values.h"

#include <algorithm>
#include <set>

namespace attune {
namespace {

using namespace generated;

constexpr size_t kOffered = 3;
constexpr const char* kEntry = "kernel";
constexpr int kWeights = 1;  // position among the inputs

std::vector<Config> first_few(std::vector<Config> configs) {
  configs.resize(std::min(configs.size(), kOffered));
  return configs;
}

template <class Problem> Problem require(std::variant<Problem, Refusal> result) {
  if (const auto* refusal = std::get_if<Refusal>(&result)) throw UserError("{}", refusal->reason);
  return std::get<Problem>(std::move(result));
}

/// Only weights that are packed ahead can be fetched ahead.
std::vector<int64_t> panels_ahead(const ProductProblem& problem) {
  return problem.shape.open ? std::vector<int64_t>{0} : std::vector<int64_t>{0, 1};
}

/// Of the position of `inner` among rows and columns, and of fetch_next.
bool rows_pass_a_panel(std::span<const int64_t> values) { return values[0] == 0 || values[1] == 0; }

/// 1/1, 1/2, … 1/64 of all, each at least `least`: how much of an axis one task takes.
std::set<int64_t> shares(int64_t all, int64_t least) {
  std::set<int64_t> values;
  for (int64_t part = 1; part <= 64; part *= 2) values.insert(std::max(least, (all + part - 1) / part));
  return values;
}

GeneratedKernel product_kernel(const ProductProblem& problem, std::string text, int64_t tasks, int64_t tile_rows,
                               std::function<Tensor(const Tensor&)> pack) {
  GeneratedKernel kernel;
  kernel.source = {std::move(text), kEntry};
  kernel.task_count = tasks;
  if (problem.shape.open) return kernel;
  kernel.taken_over = {kWeights};
  kernel.prepare = [problem, tile_rows, pack = std::move(pack)](std::span<const Tensor* const> constants) {
    std::vector<Tensor> prepared{pack(*constants[kWeights])};
    if (problem.shape.by_table()) prepared.push_back(row_table(problem, tile_rows));
    return prepared;
  };
  return kernel;
}

/// Columns of a tile's panel, from the value of "tile" (6x64).
int64_t columns_of_tile(const std::string& tile) { return std::stoll(tile.substr(tile.find('x') + 1)); }

/// Declares how open weights are read, and that those which are packed fit the stack.
void require_packable(const ProductProblem& problem, const std::vector<Config>& sweep, GeneratorSpace& space,
                      const Param& tile, const Param& columns) {
  const auto orders = texts_in(sweep, "weights"), tiles = texts_in(sweep, "tile");
  const Param weights = space.categorical("weights", orders);
  space.require(
      {tile, columns, weights},
      [problem, orders, tiles](std::span<const int64_t> v) {
        const int64_t panel = columns_of_tile(tiles.at(static_cast<size_t>(v[0])));
        return orders.at(static_cast<size_t>(v[2])) == "direct" ||
               packed_weight_bytes(problem, panel, v[1]) <= kMostPackedBytes;
      },
      "the packed weights of a task fit the stack");
}

std::vector<Config> vector_sweep(const Workload& workload) {
  return vector_configs(require(product_problem(workload)), host_target());
}
std::vector<Config> tile_sweep(const Workload& workload) {
  return tile_configs(require(product_problem(workload)), host_target());
}
std::vector<Config> band_sweep(const Workload& workload) {
  return band_configs(require(band_problem(workload)), host_target());
}
std::vector<Config> rows_sweep(const Workload& workload) {
  return rows_configs(require(rows_problem(workload)), host_target());
}
std::vector<Config> winograd_sweep(const Workload& workload) {
  return winograd_configs(require(winograd_problem(workload)), host_target());
}
std::vector<Config> depthwise_sweep(const Workload& workload) {
  return depthwise_configs(require(depthwise_problem(workload)), host_target());
}

}  // namespace

std::optional<Refusal> CubeVectorsGenerator::find_refusal(const Workload& workload) const {
  const auto problem = product_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&problem)) return *refusal;
  if (vector_sweep(workload).empty())
    return refuse("products of {} on vector registers need instructions that this machine lacks or that are masked",
                  dtype_name(workload.input(0).dtype));
  return std::nullopt;
}

std::vector<Config> CubeVectorsGenerator::offered(const Workload& workload) const {
  return first_few(vector_sweep(workload));
}

void CubeVectorsGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const ProductProblem problem = require(product_problem(workload));
  const auto sweep = vector_sweep(workload);
  const Param tile = space.categorical("tile", texts_in(sweep, "tile"));
  space.ordinal("task_rows", numbers_in(sweep, "task_rows", shares(problem.shape.rows, 1)));
  const Param columns =
      space.ordinal("task_columns", numbers_in(sweep, "task_columns", shares(problem.shape.columns, 16)));
  if (problem.shape.open) require_packable(problem, sweep, space, tile, columns);
  const Param inner = space.categorical("inner", {"rows", "columns"});
  space.categorical("split", {"rows", "columns"});
  const Param lanes = space.ordinal("lanes", numbers_in(sweep, "lanes", {}));
  const auto tiles = texts_in(sweep, "tile");
  space.require({tile, lanes}, tile_fits(tiles), "registers hold the tile");
  const bool can_block = !problem.shape.open && !problem.shape.by_table() && problem.shape.src == DType::f32 &&
                         problem.shape.dst == DType::f32;
  const std::set<int64_t> blocks{0, 96, 128, 256, 512, 768};
  const Param depth_block =
      space.ordinal("depth_block", numbers_in(sweep, "depth_block", can_block ? blocks : std::set<int64_t>{0}));
  space.ordinal("unroll", {1, 2, 4});
  space.ordinal("prefetch", {0, 8, 16});
  const Param fetch_next = space.ordinal("fetch_next", panels_ahead(problem));
  space.require({inner, fetch_next}, rows_pass_a_panel, "the next panel is fetched while rows pass this one");
  space.ordinal("fetch_rows", can_fetch_rows(problem) ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0});
  const Param results = space.categorical("results", kResults);
  space.require(
      {results, depth_block, lanes},
      [problem](std::span<const int64_t> v) {
        const auto how = static_cast<cube::Results>(v[0]);
        return how == cube::Results::cached ||
               ((v[1] == 0 || v[1] >= problem.shape.depth) && can_place_results(problem.shape, how, v[2]));
      },
      "results are placed where whole sums are stored, rows of whole vectors past the caches");
}

GeneratedKernel CubeVectorsGenerator::emit(const Workload& workload, const Config& config) const {
  const ProductProblem problem = require(product_problem(workload));
  const cube::VectorSchedule schedule = vector_schedule(problem, host_target(), config);
  return product_kernel(
      problem, cube::vector_product_text(kEntry, problem.shape, schedule, problem.epilogue),
      cube::product_tasks(problem.shape, schedule.panel_columns(), schedule.task_rows, schedule.task_panels),
      schedule.tile_rows,
      [problem, schedule](const Tensor& weights) { return pack_vector_weights(problem, schedule, weights); });
}

std::optional<Refusal> CubeTilesGenerator::find_refusal(const Workload& workload) const {
  const auto problem = product_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&problem)) return *refusal;
  if (workload.input(0).dtype != DType::bf16)
    return refuse("AMX tiles multiply bf16, got {}", dtype_name(workload.input(0).dtype));
  if (tile_sweep(workload).empty()) return refuse("this machine has no AMX, or it is masked");
  return std::nullopt;
}

std::vector<Config> CubeTilesGenerator::offered(const Workload& workload) const {
  return first_few(tile_sweep(workload));
}

void CubeTilesGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const ProductProblem problem = require(product_problem(workload));
  const auto sweep = tile_sweep(workload);
  const Param tiles = space.categorical("tiles", texts_in(sweep, "tiles"));
  const Param height = space.ordinal("tiles_height", numbers_in(sweep, "tiles_height", {}));
  const Param rows =
      space.ordinal("tiles_task_rows", numbers_in(sweep, "tiles_task_rows", shares(problem.shape.rows, 16)));
  const Param columns =
      space.ordinal("tiles_task_columns", numbers_in(sweep, "tiles_task_columns", shares(problem.shape.columns, 16)));
  const auto sources = texts_in(sweep, "tiles_src");
  const Param src = space.categorical("tiles_src", sources);
  const Param inner = space.categorical("tiles_inner", {"rows", "columns"});
  space.categorical("tiles_split", {"rows", "columns"});
  const Param fetch_next = space.ordinal("tiles_fetch_next", panels_ahead(problem));
  space.require({inner, fetch_next}, rows_pass_a_panel, "the next panel is fetched while rows pass this one");
  const auto names = texts_in(sweep, "tiles");
  space.require(
      {height, rows, src},
      [problem, sources](std::span<const int64_t> v) {
        return packed_bytes(problem, v[0], round_up(v[1], v[0]), sources.at(static_cast<size_t>(v[2]))) <=
               kMostPackedBytes;
      },
      "the packed rows of a task fit the stack");
  space.require(
      {tiles, columns},
      [problem, names](std::span<const int64_t> v) {
        const int64_t panel = 16 * columns_of_tile(names.at(static_cast<size_t>(v[0])));
        return packed_weight_bytes(problem, panel, v[1]) <= kMostPackedBytes;
      },
      "the packed weights of a task fit the stack");
}

GeneratedKernel CubeTilesGenerator::emit(const Workload& workload, const Config& config) const {
  const ProductProblem problem = require(product_problem(workload));
  const cube::TileSchedule schedule = tile_schedule(problem, config);
  return product_kernel(
      problem, cube::tile_product_text(kEntry, problem.shape, schedule, problem.epilogue),
      cube::product_tasks(problem.shape, schedule.panel_columns(), schedule.task_rows, schedule.task_panels),
      schedule.tile_rows, [problem, schedule](const Tensor& weights) {
        return pack_tile_weights(problem, {schedule.panel_columns()}, weights);
      });
}

std::optional<Refusal> CubeBandsGenerator::find_refusal(const Workload& workload) const {
  const auto problem = band_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&problem)) return *refusal;
  if (band_sweep(workload).empty()) return refuse("this machine has no AMX, or it is masked");
  return std::nullopt;
}

std::vector<Config> CubeBandsGenerator::offered(const Workload& workload) const {
  return first_few(band_sweep(workload));
}

void CubeBandsGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const BandProblem problem = require(band_problem(workload));
  const auto sweep = band_sweep(workload);
  space.categorical("band_tiles", texts_in(sweep, "band_tiles"));
  space.ordinal("band_pixels", numbers_in(sweep, "band_pixels", {16}));
  space.ordinal("band_joined", can_join_rows(problem.shape) ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0});
  std::set<int64_t> heights;
  for (const int64_t rows : shares(problem.shape.down.out, 1))
    if (cube::band_bytes(problem.shape, rows) <= kMostBandBytes) heights.insert(rows);
  space.ordinal("band_height", numbers_in(sweep, "band_height", heights));
  space.ordinal("band_columns", numbers_in(sweep, "band_columns", shares(problem.shape.product.columns, 16)));
  space.categorical("band_inner", {"rows", "columns"});
}

GeneratedKernel CubeBandsGenerator::emit(const Workload& workload, const Config& config) const {
  const BandProblem problem = require(band_problem(workload));
  const cube::BandSchedule schedule = band_schedule(problem, config);
  GeneratedKernel kernel;
  kernel.source = {cube::band_text(kEntry, problem.shape, schedule, problem.product.epilogue), kEntry};
  kernel.task_count =
      cube::band_tasks(problem.shape, schedule.panel_columns(), schedule.band_rows, schedule.task_panels);
  kernel.taken_over = {kWeights};
  kernel.prepare = [problem, schedule](std::span<const Tensor* const> constants) {
    return std::vector<Tensor>{pack_band_weights(problem, schedule, *constants[kWeights])};
  };
  return kernel;
}

std::optional<Refusal> CubeRowsGenerator::find_refusal(const Workload& workload) const {
  const auto problem = rows_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&problem)) return *refusal;
  if (rows_sweep(workload).empty()) return refuse("bands need instructions that this machine lacks or that are masked");
  return std::nullopt;
}

std::vector<Config> CubeRowsGenerator::offered(const Workload& workload) const {
  return first_few(rows_sweep(workload));
}

void CubeRowsGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const BandProblem problem = require(rows_problem(workload));
  const auto sweep = rows_sweep(workload);
  const auto tiles = texts_in(sweep, "rows_tile");
  const Param tile = space.categorical("rows_tile", tiles);
  const Param lanes = space.ordinal("rows_lanes", numbers_in(sweep, "rows_lanes", {}));
  space.require({tile, lanes}, tile_fits(tiles), "registers hold the tile");
  std::set<int64_t> heights;
  for (const int64_t rows : shares(problem.shape.down.out, 1))
    if (cube::band_bytes(problem.shape, rows) <= kMostBandBytes) heights.insert(rows);
  space.ordinal("rows_height", numbers_in(sweep, "rows_height", heights));
  space.ordinal("rows_columns", numbers_in(sweep, "rows_columns", shares(problem.shape.product.columns, 16)));
  space.categorical("rows_inner", {"rows", "columns"});
}

GeneratedKernel CubeRowsGenerator::emit(const Workload& workload, const Config& config) const {
  const BandProblem problem = require(rows_problem(workload));
  const cube::BandVectorSchedule schedule = rows_schedule(problem, host_target(), config);
  GeneratedKernel kernel;
  kernel.source = {cube::band_vector_text(kEntry, problem.shape, schedule, problem.product.epilogue), kEntry};
  kernel.task_count =
      cube::band_tasks(problem.shape, schedule.panel_columns(), schedule.band_rows, schedule.task_panels);
  kernel.taken_over = {kWeights};
  kernel.prepare = [problem, schedule](std::span<const Tensor* const> constants) {
    return std::vector<Tensor>{pack_rows_weights(problem, schedule, *constants[kWeights])};
  };
  return kernel;
}

std::optional<Refusal> CubeWinogradGenerator::find_refusal(const Workload& workload) const {
  const auto problem = winograd_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&problem)) return *refusal;
  if (winograd_sweep(workload).empty())
    return refuse("winograd needs AVX2 at least, vectors no longer than a block of channels, and room for its tiles");
  return std::nullopt;
}

std::vector<Config> CubeWinogradGenerator::offered(const Workload& workload) const {
  return first_few(winograd_sweep(workload));
}

void CubeWinogradGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const WinogradProblem problem = require(winograd_problem(workload));
  const auto sweep = winograd_sweep(workload);
  space.ordinal("winograd_output", numbers_in(sweep, "winograd_output", {}));
  space.categorical("winograd_tile", texts_in(sweep, "winograd_tile"));
  space.ordinal("winograd_block", numbers_in(sweep, "winograd_block", {6, 12, 14, 28}));
  space.ordinal("winograd_task_tiles", numbers_in(sweep, "winograd_task_tiles", {}));
  space.ordinal("winograd_task_columns", numbers_in(sweep, "winograd_task_columns", {}));
  space.ordinal("winograd_fetch_next", {0, 1});
}

GeneratedKernel CubeWinogradGenerator::emit(const Workload& workload, const Config& config) const {
  const WinogradProblem problem = require(winograd_problem(workload));
  const cube::WinogradSchedule schedule = winograd_schedule(problem, host_target(), config);
  GeneratedKernel kernel;
  kernel.source = {cube::winograd_text(kEntry, problem.shape, schedule, problem.epilogue), kEntry};
  kernel.task_count = cube::winograd_tasks(problem.shape, schedule);
  kernel.workspace_bytes = kernel.task_count * cube::winograd_task_bytes(problem.shape, schedule);
  kernel.taken_over = {kWeights};
  kernel.prepare = [problem, schedule](std::span<const Tensor* const> constants) {
    return std::vector<Tensor>{transform_weights(problem, schedule, *constants[kWeights])};
  };
  return kernel;
}

std::optional<Refusal> CubeDepthwiseGenerator::find_refusal(const Workload& workload) const {
  const auto problem = depthwise_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&problem)) return *refusal;
  if (depthwise_sweep(workload).empty())
    return refuse("depthwise kernels for {} need instructions that this machine lacks or that are masked",
                  to_text(workload.input(0)));
  return std::nullopt;
}

std::vector<Config> CubeDepthwiseGenerator::offered(const Workload& workload) const {
  return first_few(depthwise_sweep(workload));
}

void CubeDepthwiseGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const DepthwiseProblem problem = require(depthwise_problem(workload));
  const auto sweep = depthwise_sweep(workload);
  space.ordinal("tile_pixels", numbers_in(sweep, "tile_pixels", {1, 2, 3}));
  space.ordinal("band_rows", numbers_in(sweep, "band_rows", shares(problem.shape.down.out, 1)));
  space.ordinal("band_channels", numbers_in(sweep, "band_channels", shares(problem.shape.channels, 16)));
}

GeneratedKernel CubeDepthwiseGenerator::emit(const Workload& workload, const Config& config) const {
  const DepthwiseProblem problem = require(depthwise_problem(workload));
  const cube::DepthwiseSchedule schedule = depthwise_schedule(host_target(), config);
  GeneratedKernel kernel;
  kernel.source = {cube::depthwise_text(kEntry, problem.shape, schedule, problem.epilogue), kEntry};
  kernel.task_count = cube::depthwise_tasks(problem.shape, schedule);
  kernel.taken_over = {kWeights};
  kernel.prepare = [problem, schedule](std::span<const Tensor* const> constants) {
    return std::vector<Tensor>{pack_filters(problem, schedule, *constants[kWeights])};
  };
  return kernel;
}

std::vector<Config> cube_sweep(const Workload& workload) {
  const CubeWinogradGenerator winograd;
  const CubeBandsGenerator bands;
  const CubeTilesGenerator tiles;
  const CubeRowsGenerator rows;
  const CubeVectorsGenerator vectors;
  const CubeDepthwiseGenerator depthwise;
  std::vector<Config> configs;
  const auto append = [&](const Generator& generator, auto sweep) {
    if (generator.find_refusal(workload)) return;
    for (Config& config : sweep(workload)) {
      config["generator"] = std::string(generator.name());
      configs.push_back(std::move(config));
    }
  };
  append(winograd, winograd_sweep);
  append(bands, band_sweep);
  append(tiles, tile_sweep);
  append(rows, rows_sweep);
  append(vectors, vector_sweep);
  append(depthwise, depthwise_sweep);
  return configs;
}

}  // namespace attune
