#include "providers/generated/cube_weight_gradient.h"

#include "codegen/cube/task_grid.h"
#include "codegen/cube/weight_gradient.h"
#include "ops/context.h"
#include "ops/conv_shape.h"
#include "providers/generated/config_values.h"
#include "providers/generated/cube_band.h"
#include "providers/generated/cube_schedule.h"
#include "providers/generated/sweep_values.h"

#include <algorithm>
#include <set>

namespace attune {
namespace {

using namespace generated;
using cube::divide_up;

constexpr const char* kEntry = "kernel";
constexpr size_t kOffered = 3;
constexpr int64_t kMostSumBytes = 256 << 10;  // on the stack

std::variant<cube::WeightGradientShape, Refusal> shape_of(const Workload& workload) {
  if (workload.domain != "attune" || workload.op != "ConvGradWeights")
    return refuse("operator '{}' is no gradient by weights", workload.op);
  const TensorSpec &src = workload.input(0), &diff = workload.input(1), &dst = workload.output(0);
  if (src.layout != Layout::nhwc || diff.layout != Layout::nhwc)
    return refuse("gradients by weights are generated for channels-last maps, got {} and {}", to_text(src),
                  to_text(diff));
  if (src.dims.size() != 3 && src.dims.size() != 4)
    return refuse("gradients by weights are generated for one or two spatial dims, got {}", to_text(src));
  for (const TensorSpec* spec : {&src, &diff, &dst})
    if (spec->dtype != DType::f32 && spec->dtype != DType::bf16)
      return refuse("gradients by weights are generated for f32 and bf16, got {}", to_text(*spec));
  if (src.dtype != diff.dtype) return refuse("data are {} and gradients {}", to_text(src), to_text(diff));
  if (element_count(src.dims) == 0 || element_count(diff.dims) == 0) return refuse("an operand is empty");
  const Node node = workload.node();
  const ConvGeometry geometry = conv_geometry(OpContext(node), src.dims, dst.dims);
  if (geometry.groups > 1 && geometry.in_channels < 4)
    return refuse("groups of {} channels are no matrix product worth the name", geometry.in_channels);
  cube::WeightGradientShape shape;
  shape.images = geometry.batch;
  shape.groups = geometry.groups;
  shape.in_channels = geometry.in_channels;
  shape.out_channels = geometry.out_channels;
  shape.down = geometry.axes.size() == 2 ? band_axis(geometry.axes[0]) : cube::DepthwiseAxis{1, 1, 1, 1, 1, 0};
  shape.across = band_axis(geometry.axes.back());
  shape.bias = workload.outputs.size() > 1 && workload.outputs[1].has_value();
  if (shape.bias && workload.output(1).dtype != dst.dtype) return refuse("weights and bias are of two types");
  shape.src = src.dtype;
  shape.dst = dst.dtype;
  return shape;
}

cube::WeightGradientShape require_shape(const Workload& workload) {
  auto shape = shape_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) throw UserError("{}", refusal->reason);
  return std::get<cube::WeightGradientShape>(shape);
}

/// Register tiles, the one that suits the channels first: sums fill the registers, and of two tiles with as many the
/// wider one asks for fewer numbers of the results' gradients.
std::vector<RegisterTile> tiles_for(const cube::WeightGradientShape& shape, const ProductTarget& target) {
  const std::vector<RegisterTile> all = target.isa.lanes == 16
                                            ? std::vector<RegisterTile>{{6, 4}, {8, 3}, {12, 2}, {16, 1}, {14, 2}}
                                            : std::vector<RegisterTile>{{4, 3}, {6, 2}, {8, 1}};
  std::vector<RegisterTile> fit;
  for (const RegisterTile& tile : all)
    if (tile.vectors <= divide_up(shape.in_channels, target.isa.lanes))
      fit.push_back({static_cast<int>(std::min<int64_t>(tile.rows, shape.out_channels)), tile.vectors});
  return fit;
}

std::vector<Config> sweep(const Workload& workload, const ProductTarget& target) {
  const cube::WeightGradientShape shape = require_shape(workload);
  std::vector<Config> configs;
  if (!target.vectors) return configs;
  const int64_t taps = shape.down.kernel * shape.across.kernel, threads = target.threads;
  for (const RegisterTile& tile : tiles_for(shape, target)) {
    const int64_t tile_columns = static_cast<int64_t>(tile.vectors) * target.isa.lanes;
    const int64_t columns = std::min(round_up(shape.in_channels, tile_columns), round_up(128, tile_columns));
    // Few taps leave the sharing out to the output channels.
    const int64_t fair = divide_up(shape.out_channels, std::max<int64_t>(1, 2 * threads / (taps * shape.groups)));
    const int64_t most = std::max<int64_t>(tile.rows, kMostSumBytes / 4 / (columns * 4) / tile.rows * tile.rows);
    const int64_t rows = std::min(round_up(fair, tile.rows), most);
    // What passes all tiles of a task should stay near.
    const int64_t row_bytes =
        (shape.across.in * shape.down.stride * columns + shape.across.out * rows) * (bit_width(shape.src) / 8);
    const int64_t near = std::clamp<int64_t>(target.l2_bytes / 4 / std::max<int64_t>(row_bytes, 1), 1, shape.down.out);
    for (const int64_t band : {near, std::max<int64_t>(1, near / 4), shape.down.out})
      configs.push_back({{"gradient_tile", fmt::format("{}x{}", tile.rows, tile_columns)},
                         {"gradient_band", std::to_string(band)},
                         {"gradient_rows", std::to_string(rows)},
                         {"gradient_columns", std::to_string(columns)}});
  }
  return distinct(std::move(configs));
}

cube::WeightGradientSchedule schedule_of(const ProductTarget& target, const Config& config) {
  cube::WeightGradientSchedule schedule;
  schedule.isa = target.isa;
  const RegisterTile tile = register_tile(config, "gradient_tile", target.isa.lanes);
  schedule.tile_rows = tile.rows;
  schedule.tile_vectors = tile.vectors;
  schedule.band_rows = number_of(config, "gradient_band", 1);
  schedule.task_rows = round_up(number_of(config, "gradient_rows", 1), schedule.tile_rows);
  schedule.task_columns = round_up(number_of(config, "gradient_columns", 1), schedule.tile_columns());
  if (schedule.task_rows * schedule.task_columns * 4 > kMostSumBytes)
    throw UserError("sums of {}x{} channels do not fit the stack", schedule.task_rows, schedule.task_columns);
  return schedule;
}

}  // namespace

std::optional<Refusal> CubeWeightGradientGenerator::find_refusal(const Workload& workload) const {
  const auto shape = shape_of(workload);
  if (const auto* refusal = std::get_if<Refusal>(&shape)) return *refusal;
  if (sweep(workload, host_target()).empty())
    return refuse("gradients by weights need instructions that this machine lacks or that are masked");
  return std::nullopt;
}

std::vector<Config> CubeWeightGradientGenerator::offered(const Workload& workload) const {
  auto configs = sweep(workload, host_target());
  configs.resize(std::min(configs.size(), kOffered));
  return configs;
}

void CubeWeightGradientGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const cube::WeightGradientShape shape = require_shape(workload);
  const auto configs = sweep(workload, host_target());
  const auto tiles = texts_in(configs, "gradient_tile");
  const Param tile = space.categorical("gradient_tile", tiles);
  std::set<int64_t> bands, parts;
  for (int64_t part = 1; part <= 64; part *= 2) {
    bands.insert(divide_up(shape.down.out, part));
    parts.insert(divide_up(shape.out_channels, part));
  }
  space.ordinal("gradient_band", numbers_in(configs, "gradient_band", bands));
  const Param rows = space.ordinal("gradient_rows", numbers_in(configs, "gradient_rows", parts));
  const Param columns = space.ordinal("gradient_columns", numbers_in(configs, "gradient_columns", {}));
  space.require(
      {tile, rows, columns},
      [tiles](std::span<const int64_t> v) {
        const auto [tile_rows, tile_columns] = pair_of(Config{{"tile", tiles.at(static_cast<size_t>(v[0]))}}, "tile");
        return round_up(v[1], tile_rows) * round_up(v[2], tile_columns) * 4 <= kMostSumBytes;
      },
      "the sums of a task fit the stack");
}

GeneratedKernel CubeWeightGradientGenerator::emit(const Workload& workload, const Config& config) const {
  const cube::WeightGradientShape shape = require_shape(workload);
  const cube::WeightGradientSchedule schedule = schedule_of(host_target(), config);
  GeneratedKernel kernel;
  kernel.source = {cube::weight_gradient_text(kEntry, shape, schedule), kEntry};
  kernel.task_count = cube::weight_gradient_tasks(shape, schedule);
  return kernel;
}

}  // namespace attune
