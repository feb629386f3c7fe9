#include "providers/generated/cube_rows.h"

#include "codegen/cube/task_grid.h"
#include "providers/generated/config_values.h"

#include <algorithm>

namespace attune::generated {

using cube::divide_up;

std::variant<BandProblem, Refusal> rows_problem(const Workload& workload) {
  auto found = product_problem(workload);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
  BandProblem problem;
  problem.product = std::get<ProductProblem>(std::move(found));
  cube::ProductShape& product = problem.product.shape;
  if (!problem.product.conv || problem.product.conv->axes.size() != 2)
    return refuse("bands are for convolutions with two spatial dims");
  const ConvGeometry& geometry = *problem.product.conv;
  if (product.src != DType::f32) return refuse("bands on vectors are for f32, got {}", dtype_name(product.src));
  if (product.taps == 1) return refuse("a convolution of one tap needs no band");
  cube::BandShape& shape = problem.shape;
  shape.images = geometry.batch;
  shape.channels = shape.band_channels = geometry.in_channels;
  shape.down = band_axis(geometry.axes[0]);
  shape.across = band_axis(geometry.axes[1]);
  if (geometry.groups != 1 || shape.across.dilation != 1)
    return refuse("bands on vectors are for one group and a filter whose taps lie side by side");
  shape.merged = true;
  problem.product.merged = shape.across.kernel;
  product.taps = shape.down.kernel;
  product.depth *= shape.across.kernel;
  shape.step_depth = 1;
  shape.product = product;
  if (cube::band_bytes(shape, 1) > kMostBandBytes)
    return refuse("the input rows of one output row, {} bytes, do not fit the stack", cube::band_bytes(shape, 1));
  return problem;
}

std::vector<Config> rows_configs(const BandProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  if (!target.vectors) return configs;
  const cube::BandShape& shape = problem.shape;
  const int64_t columns = shape.product.columns;
  int64_t most_rows = shape.down.out;
  while (most_rows > 1 && cube::band_bytes(shape, most_rows) > target.l2_bytes / 4) --most_rows;
  while (most_rows > 1 && cube::band_bytes(shape, most_rows) > kMostBandBytes) --most_rows;
  const bool images_share = shape.images % target.threads == 0;
  const int64_t fair = images_share ? shape.down.out : divide_up(shape.down.out, target.threads);
  const int64_t rows = divide_up(fair, divide_up(fair, most_rows));
  const auto add = [&](RegisterTile tile, int64_t band_rows, int64_t task_columns, const char* inner) {
    configs.push_back({{"rows_tile", tile_name(tile)},
                       {"rows_lanes", std::to_string(tile.lanes)},
                       {"rows_height", std::to_string(band_rows)},
                       {"rows_columns", std::to_string(task_columns)},
                       {"rows_inner", inner}});
  };
  cube::ProductShape one_row = shape.product;  // tiles do not reach from row to row
  one_row.rows = shape.across.out;
  for (const RegisterTile tile : tiles_of_any_width(one_row, target)) {
    const int64_t panel = tile.columns();
    const int64_t all = round_up(columns, panel), part = round_up(divide_up(columns, target.threads), panel);
    // Rows that do not share out evenly: columns may.
    const bool by_columns = fair * target.threads > shape.down.out && !images_share && part < all;
    const int64_t deep = divide_up(shape.down.out, divide_up(shape.down.out, most_rows));
    if (by_columns) add(tile, deep, part, "rows");
    add(tile, rows, all,
        shape.product.depth * shape.product.taps * panel * 4 > target.l1_bytes / 2 ? "rows" : "columns");
    add(tile, rows, all, "rows");
    add(tile, divide_up(rows, 4), all, "columns");
    if (!by_columns && part < all) add(tile, deep, part, "rows");
  }
  return distinct(std::move(configs));
}

cube::BandVectorSchedule rows_schedule(const BandProblem& problem, const ProductTarget& target, const Config& config) {
  cube::BandVectorSchedule schedule;
  schedule.isa = target.isa;
  schedule.isa.lanes = lanes_in(config, "rows_lanes", problem.shape.product, target);
  const RegisterTile tile = register_tile(config, "rows_tile", schedule.isa.lanes);
  schedule.tile_pixels = tile.rows;
  schedule.tile_vectors = tile.vectors;
  schedule.band_rows = std::min(number_of(config, "rows_height", 1), problem.shape.down.out);
  schedule.task_panels = divide_up(number_of(config, "rows_columns", 1), schedule.panel_columns());
  schedule.inner = axis_of(config, "rows_inner");
  if (cube::band_bytes(problem.shape, schedule.band_rows) > kMostBandBytes)
    throw UserError("a band of {} output rows does not fit the stack", schedule.band_rows);
  return schedule;
}

Tensor pack_rows_weights(const BandProblem& problem, const cube::BandVectorSchedule& schedule, const Tensor& weights) {
  cube::VectorSchedule panels;
  panels.isa = schedule.isa;
  panels.tile_vectors = schedule.tile_vectors;
  return pack_vector_weights(problem.product, panels, weights);
}

}  // namespace attune::generated
