#include "providers/generated/register_tiles.h"

#include "base/error.h"
#include "codegen/cube/task_grid.h"
#include "providers/generated/config_values.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace attune::generated {
namespace {

using cube::divide_up;

/// The accumulators leave room for a row of weights and a broadcast: a tile that
/// does not (7x4 of 32 registers) spills in the inner loop and runs at half of the speed.
constexpr RegisterTile kTilesOf32[] = {{6, 4}, {8, 3}, {14, 2}, {12, 2}, {24, 1}, {5, 5}, {4, 6}};
constexpr RegisterTile kTilesOf16[] = {{6, 2}, {4, 3}, {12, 1}};

/// Tiles of vectors of so many lanes, no larger than the product.
std::vector<RegisterTile> tiles_of(const cube::ProductShape& shape, const ProductTarget& target, int lanes) {
  std::vector<RegisterTile> tiles(target.isa.masks ? std::vector(std::begin(kTilesOf32), std::end(kTilesOf32))
                                                   : std::vector(std::begin(kTilesOf16), std::end(kTilesOf16)));
  for (RegisterTile& tile : tiles) {
    tile.lanes = lanes;
    tile.rows = static_cast<int>(std::min<int64_t>(tile.rows, shape.rows));
    tile.vectors = static_cast<int>(std::min<int64_t>(tile.vectors, divide_up(shape.columns, lanes)));
  }
  return tiles;
}

void sort_by_cost(std::vector<RegisterTile>& tiles, const cube::ProductShape& shape, const ProductTarget& target) {
  std::ranges::stable_sort(tiles, {}, [&](const RegisterTile& tile) { return tiling_cost(shape, tile, target); });
}

}  // namespace

double tiling_cost(const cube::ProductShape& shape, RegisterTile tile, const ProductTarget& target, LoadCosts load) {
  // Tiles of few accumulators wait for their own results, eight are in flight; loads are not quite free beside the
  // products, which makes square tiles better than long ones.
  const bool narrow = tile.lanes < target.isa.lanes;
  const double turns = narrow ? 1 : target.wide_turns;
  constexpr double kMoreInstructions = 1.03;  // of narrow vectors: what does not pay by more than that comes later
  const auto cost = [&](int64_t rows, int64_t vectors) {
    const auto row_loads = static_cast<double>(rows), vector_loads = static_cast<double>(vectors);
    return std::max({turns * row_loads * vector_loads / 2, 4.0, (row_loads + turns * vector_loads) / 2}) +
           load.row * row_loads + turns * load.vector * vector_loads;
  };
  // Rows by table get an address at every tap, and more of them than there are registers are kept in memory.
  constexpr double kAddressTurns = 2;
  constexpr int kAddressRegisters = 10;
  const double steps = std::max(1.0, static_cast<double>(shape.depth) / (shape.src == DType::bf16 ? 2 : 1));
  if (shape.by_table()) load.row += kAddressTurns / steps * (tile.rows > kAddressRegisters ? 2 : 1);
  const int64_t vectors = divide_up(shape.columns, tile.lanes);
  const int64_t before = divide_up(vectors, tile.vectors) - 1, last = vectors - before * tile.vectors;
  const auto across = [&](int64_t rows) {
    return static_cast<double>(before) * cost(rows, tile.vectors) + cost(rows, last);
  };
  const int64_t down = shape.rows / tile.rows, rest = shape.rows % tile.rows;
  const double sum = static_cast<double>(down) * across(tile.rows) + (rest > 0 ? across(rest) : 0.0);
  return sum * (narrow ? kMoreInstructions : 1.0);
}

std::vector<RegisterTile> register_tiles(const cube::ProductShape& shape, const ProductTarget& target) {
  std::vector<RegisterTile> tiles = tiles_of(shape, target, target.isa.lanes);
  sort_by_cost(tiles, shape, target);
  return tiles;
}

std::vector<RegisterTile> tiles_of_any_width(const cube::ProductShape& shape, const ProductTarget& target) {
  std::vector<RegisterTile> tiles;
  for (const int64_t lanes : lane_choices(shape, target))
    for (const RegisterTile tile : tiles_of(shape, target, static_cast<int>(lanes))) tiles.push_back(tile);
  sort_by_cost(tiles, shape, target);
  return tiles;
}

std::vector<int64_t> lane_choices(const cube::ProductShape& shape, const ProductTarget& target) {
  constexpr int64_t kNarrow = 8;
  const bool packs_pairs = shape.open && shape.src == DType::bf16;  // written for whole registers
  if (!target.isa.masks || packs_pairs) return {target.isa.lanes};
  return {target.isa.lanes, kNarrow};
}

int lanes_in(const Config& config, const char* key, const cube::ProductShape& shape, const ProductTarget& target) {
  if (config.count(key) == 0) return target.isa.lanes;
  const int64_t lanes = number_of(config, key, 1);
  const auto choices = lane_choices(shape, target);
  if (std::ranges::find(choices, lanes) == choices.end())
    throw UserError("{} is {}; products of {} have vectors of {} here", key, lanes, dtype_name(shape.src),
                    fmt::join(choices, " or "));
  return static_cast<int>(lanes);
}

RegisterTile register_tile(const Config& config, const char* key, int lanes) {
  const auto [rows, columns] = pair_of(config, key);
  if (!registers_hold(rows, columns, lanes))
    throw UserError("a register tile of {}x{} does not fit registers of {} numbers", rows, columns, lanes);
  return {static_cast<int>(rows), static_cast<int>(columns / lanes), lanes};
}

bool registers_hold(int64_t rows, int64_t columns, int64_t lanes) {
  return rows >= 1 && rows <= 30 && columns >= lanes && columns % lanes == 0 && (rows + 1) * (columns / lanes) <= 40;
}

ExprFunction tile_fits(const std::vector<std::string>& names) {
  return [names](std::span<const int64_t> v) {
    const auto [rows, columns] = pair_of({{"tile", names.at(static_cast<size_t>(v[0]))}}, "tile");
    return registers_hold(rows, columns, v[1]);
  };
}

std::string tile_name(const RegisterTile& tile) { return fmt::format("{}x{}", tile.rows, tile.columns()); }

}  // namespace attune::generated
