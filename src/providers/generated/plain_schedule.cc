#include "providers/generated/plain_schedule.h"

#include "codegen/cube/task_grid.h"
#include "providers/generated/sweep_values.h"

#include <algorithm>

namespace attune::generated {

std::vector<Config> plain_sweep(const ProductProblem& problem, const ProductTarget& target) {
  std::vector<Config> configs;
  for (Config& config : vector_configs(problem, target)) {
    config["depth_block"] = "0";
    config["fetch_next"] = "0";
    config["results"] = "cached";
    configs.push_back(std::move(config));
  }
  return distinct(std::move(configs));
}

void declare_plain(const cube::ProductShape& shape, const std::vector<Config>& sweep,
                   const std::set<int64_t>& fetch_rows, GeneratorSpace& space) {
  std::set<int64_t> rows, columns;
  for (int64_t part = 1; part <= 64; part *= 2) {
    rows.insert(cube::divide_up(shape.rows, part));
    columns.insert(std::max<int64_t>(16, cube::divide_up(shape.columns, part)));
  }
  const auto tiles = texts_in(sweep, "tile");
  const Param tile = space.categorical("tile", tiles), lanes = space.ordinal("lanes", numbers_in(sweep, "lanes", {}));
  space.require({tile, lanes}, tile_fits(tiles), "registers hold the tile");
  space.ordinal("task_rows", numbers_in(sweep, "task_rows", rows));
  space.ordinal("task_columns", numbers_in(sweep, "task_columns", columns));
  space.categorical("inner", {"rows", "columns"});
  space.categorical("split", {"rows", "columns"});
  space.ordinal("depth_block", {0});
  space.ordinal("unroll", {1, 2, 4});
  space.ordinal("prefetch", {0, 8, 16});
  space.ordinal("fetch_next", {0});
  space.ordinal("fetch_rows", {fetch_rows.begin(), fetch_rows.end()});
  space.categorical("results", {"cached"});
}

}  // namespace attune::generated
