#include "providers/generated/cube_band.h"

#include "codegen/cube/task_grid.h"
#include "providers/generated/config_values.h"

#include <algorithm>

namespace attune::generated {
namespace {

using cube::Axis;
using cube::divide_up;

/// Pixels of a tile that share out an output row with the least left over.
int64_t even_pixels(int64_t row) { return divide_up(row, divide_up(row, 16)); }

/// Zeros behind the channels of a pixel, so that the pixels of a row of the filter are whole steps of the depth: what
/// a tile read beyond them would meet weights of zero, but infinity times zero is not a number. The fewest steps, then
/// the fewest zeros.
struct WholeSteps {
  int64_t channels = 0, steps = 0;
};
WholeSteps whole_steps(int64_t channels, int64_t kernel) {
  WholeSteps best;
  for (int64_t padded = divide_up(channels, 2) * 2; padded < channels + cube::kTileDepth; padded += 2) {
    const int64_t pairs = kernel * padded / 2;
    int64_t steps = divide_up(pairs, cube::kTileDepth / 2);
    while (pairs % steps != 0) ++steps;
    if (best.steps == 0 || steps < best.steps) best = {padded, steps};
  }
  return best;
}

}  // namespace

cube::DepthwiseAxis band_axis(const WindowAxis& axis) {
  return {axis.in, axis.out, axis.kernel, axis.stride, axis.dilation, axis.pad_begin};
}

bool can_join_rows(const cube::BandShape& shape) { return shape.down.stride == 1 && shape.across.stride == 1; }

std::variant<BandProblem, Refusal> band_problem(const Workload& workload) {
  auto found = product_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
  BandProblem problem;
  problem.product = std::get<ProductProblem>(std::move(found));
  cube::ProductShape& product = problem.product.shape;
  if (!problem.product.conv || problem.product.conv->axes.size() != 2)
    return refuse("bands are for convolutions with two spatial dims");
  const ConvGeometry& geometry = *problem.product.conv;
  if (product.src != DType::bf16) return refuse("AMX tiles multiply bf16, got {}", dtype_name(product.src));
  if (product.taps == 1) return refuse("a convolution of one tap needs no band");
  cube::BandShape& shape = problem.shape;
  shape.images = geometry.batch;
  shape.channels = shape.band_channels = geometry.groups * geometry.in_channels;
  shape.down = band_axis(geometry.axes[0]);
  shape.across = band_axis(geometry.axes[1]);
  shape.merged = product.depth % cube::kTileDepth != 0 && geometry.groups == 1 && shape.across.dilation == 1;
  if (product.depth % cube::kTileDepth != 0 && !shape.merged)
    return refuse("{} channels in a group fill no whole tiles", product.depth);
  if (shape.merged) {
    problem.product.merged = shape.across.kernel;
    const WholeSteps whole = whole_steps(shape.channels, shape.across.kernel);
    shape.band_channels = whole.channels;
    product.taps = shape.down.kernel;
    product.depth = whole.channels * shape.across.kernel;
    shape.step_depth = product.depth / whole.steps;
  }
  if (cube::band_bytes(shape, 1) > kMostBandBytes)
    return refuse("the input rows of one output row, {} bytes, do not fit the stack", cube::band_bytes(shape, 1));
  shape.product = product;
  return problem;
}

std::vector<Config> band_configs(const BandProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  if (!target.amx) return configs;
  const cube::BandShape& shape = problem.shape;
  const int64_t across_all = divide_up(shape.product.columns, 16);
  int64_t most_rows = shape.down.out;
  while (most_rows > 1 && cube::band_bytes(shape, most_rows) > kMostBandBytes / 2) --most_rows;
  const int64_t fair_rows =
      shape.images % target.threads == 0 ? shape.down.out : divide_up(shape.down.out, target.threads);
  const int64_t rows = std::min(most_rows, fair_rows);
  const int64_t row_pixels = even_pixels(shape.across.out);
  // Where tiles of a row are short, longer ones read the weights less often.
  const bool joins = can_join_rows(shape) && row_pixels <= 12;
  const auto add = [&](int down, int across, int64_t band_rows, int64_t columns, const char* inner) {
    for (const bool joined : {true, false}) {
      if (joined && !(joins && band_rows > 1)) continue;
      Config config{{"band_tiles", fmt::format("{}x{}", down, across)},
                    {"band_pixels", std::to_string(joined ? 16 : row_pixels)},
                    {"band_joined", joined ? "1" : "0"},
                    {"band_height", std::to_string(band_rows)},
                    {"band_columns", std::to_string(columns)},
                    {"band_inner", inner}};
      if (std::ranges::find(configs, config) == configs.end()) configs.push_back(std::move(config));
    }
  };
  // Rows that do not share out evenly, as 7 for two threads: columns may.
  const bool uneven = fair_rows != shape.down.out && fair_rows * target.threads > shape.down.out;
  const int64_t few_rows = std::max<int64_t>(1, std::min<int64_t>(rows, divide_up(rows, 4)));
  for (const auto& [down, across] : {std::pair{2, 2}, std::pair{1, 4}, std::pair{2, 1}, std::pair{1, 3}}) {
    if (across > across_all) continue;
    const int64_t panel = across * int64_t{16};
    const int64_t all = divide_up(shape.product.columns, panel) * panel;
    const int64_t half = divide_up(divide_up(shape.product.columns, target.threads), panel) * panel;
    const int64_t deep = std::min(most_rows, shape.down.out);
    if (uneven && half < all) add(down, across, deep, half, "rows");
    for (const char* inner : {"rows", "columns"}) {
      add(down, across, rows, all, inner);
      add(down, across, few_rows, all, inner);
    }
    if (half < all) add(down, across, deep, half, "rows");
  }
  return configs;
}

cube::BandSchedule band_schedule(const BandProblem& problem, const Config& config) {
  cube::BandSchedule schedule;
  const auto [down, across] = pair_of(config, "band_tiles");
  if (down < 1 || across < 1 || down * across + down + 1 > 8)
    throw UserError("{}x{} tiles of the result do not fit eight tile registers", down, across);
  schedule.tiles_down = static_cast<int>(down);
  schedule.tiles_across = static_cast<int>(across);
  schedule.tile_pixels = static_cast<int>(number_of(config, "band_pixels", 1));
  if (schedule.tile_pixels > 16) throw UserError("band_pixels is {}, a tile has at most 16 rows", schedule.tile_pixels);
  schedule.joined = number_of(config, "band_joined", 0) != 0;
  if (schedule.joined && !can_join_rows(problem.shape))
    throw UserError("band_joined is 1, but pixels of neighbouring rows lie at equal distances with stride 1 only");
  schedule.band_rows = std::min(number_of(config, "band_height", 1), problem.shape.down.out);
  schedule.task_panels = divide_up(number_of(config, "band_columns", 1), schedule.panel_columns());
  const std::string_view inner = text_of(config, "band_inner");
  if (inner != "rows" && inner != "columns") throw UserError("band_inner is '{}', expected rows or columns", inner);
  schedule.inner = inner == "rows" ? Axis::rows : Axis::columns;
  if (cube::band_bytes(problem.shape, schedule.band_rows) > kMostBandBytes)
    throw UserError("a band of {} output rows does not fit the stack", schedule.band_rows);
  return schedule;
}

Tensor pack_band_weights(const BandProblem& problem, const cube::BandSchedule& schedule, const Tensor& weights) {
  return pack_tile_weights(problem.product, {schedule.panel_columns(), problem.shape.step_depth}, weights);
}

}  // namespace attune::generated
