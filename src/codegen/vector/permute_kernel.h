// Text of kernels that move elements without looking at them: transposes, layout conversions, channel shuffles.
#pragma once

#include "codegen/source.h"
#include "codegen/vector/loop_nest.h"
#include "codegen/vector/map_kernel.h"

namespace attune::codegen {

struct PermuteKernel {
  LoopNest nest;  // simplified; strides of input, then output, whose innermost one is 1
  int element_bytes = 4;
  int input_position = 0;
};

struct PermuteConfig {
  int tile =
      0;  // rows and columns of the square that is turned in registers; 1: element by element; 0: rows are copied
  int64_t task_elements = 16384;
  int64_t strips = 0;   // strips of `tile` rows that a task has, and a part of their length; 0: whole strips
  int64_t block = 256;  // elements along a row of the output before the next strip of rows takes its turn
  Stores stores = Stores::cached;
  /// While one block is turned, the rows of the input that the next one reads are brought into the second cache, each
  /// from end to end as memory likes it. Needs strips that make up whole groups of lines, see can_ask_ahead.
  bool ahead = false;
};

/// Sides of squares that fit the registers and both directions, the largest first; {0} where rows are copied whole, {1}
/// where nothing else fits.
std::vector<int> tile_choices(const PermuteKernel& kernel, Isa isa);
/// Whether every store of a tile fills an aligned line, as stores past the cache want.
bool can_store_past_cache(const PermuteKernel& kernel, int tile);

/// Whether the rows of so many strips fall into groups of lines, one for each tile that is turned.
bool can_ask_ahead(const PermuteKernel& kernel, int tile, int64_t strips);

int64_t permute_task_count(const PermuteKernel& kernel, const PermuteConfig& config);
GeneratedSource emit_permute(const PermuteKernel& kernel, const PermuteConfig& config, const std::string& header);

}  // namespace attune::codegen
