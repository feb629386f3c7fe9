// Tiles of results that registers hold while a product is computed, and which of them suits a product.
#pragma once

#include "kernel/config.h"
#include "providers/generated/cube_product.h"
#include "providers/generated/product_target.h"
#include "space/expression.h"

#include <string>
#include <vector>

namespace attune::generated {

/// Time for loads beside the products, in turns of the multipliers.
struct LoadCosts {
  double row, vector;
};
inline constexpr LoadCosts kCachedLoads{0.1, 0.1};

/// Rows and vectors of a register tile.
struct RegisterTile {
  int rows = 0, vectors = 0;
  int lanes = 0;  // of a vector

  int64_t columns() const { return int64_t{vectors} * lanes; }
};
/// The one that a config names, such as "6x64": rows and columns. Throws UserError where registers do not hold it.
RegisterTile register_tile(const Config& config, const char* key, int lanes);
/// Whether registers hold a tile of so many rows and columns.
bool registers_hold(int64_t rows, int64_t columns, int64_t lanes);
std::string tile_name(const RegisterTile& tile);
/// The same as a constraint of a space, of the positions of a tile among these names and of lanes.
ExprFunction tile_fits(const std::vector<std::string>& names);
/// Those of the widest vectors that suit a product, the best by an estimate first.
std::vector<RegisterTile> register_tiles(const cube::ProductShape& shape, const ProductTarget& target);
/// Those of half the width too, where the target has registers and instructions for them.
std::vector<RegisterTile> tiles_of_any_width(const cube::ProductShape& shape, const ProductTarget& target);
/// Lanes of vectors that a product may be written for, the widest first.
std::vector<int64_t> lane_choices(const cube::ProductShape& shape, const ProductTarget& target);
/// Those that a config names; the widest where it names none. UserError where the target has no such vectors.
int lanes_in(const Config& config, const char* key, const cube::ProductShape& shape, const ProductTarget& target);

/// Turns of the two multipliers that a tiling takes for one step of the depth, edges included: what the default
/// minimises.
double tiling_cost(const cube::ProductShape& shape, RegisterTile tile, const ProductTarget& target,
                   LoadCosts load = kCachedLoads);

}  // namespace attune::generated
