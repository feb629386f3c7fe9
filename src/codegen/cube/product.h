// Matrix product with weights packed ahead and a fused epilogue: dst[m, n] = finish(sum over k of src[m, k] weights[k,
// n]). Convolution is the same product when each output pixel is a row whose elements lie in `taps` pieces of the
// source.
#pragma once

#include "codegen/cube/epilogue_text.h"
#include "codegen/cube/vectors.h"
#include "ops/shuffled_conv.h"

#include <optional>
#include <string>
#include <vector>

namespace attune::cube {

/// Products that differ in one index, and the elements from one to the next; 0: they share the operand.
struct BatchAxis {
  int64_t count = 1, src_stride = 0, weights_stride = 0;
};

/// Weights that change from run to run, where they lie: kernels pack them in their tasks, or read them there.
struct OpenWeights {
  int64_t row_stride = 0, column_stride = 0;  // elements along the depth, along the columns
};

/// Results take turns with the channels of another map of the same shape, and rows of twice as many are cut in two.
struct ResultShuffle {
  int input = -1;           // the other map
  Turn own = Turn::second;  // the place of a result in its pair
  int64_t first_part = 0;   // places of a row that go to the first output; the others go to the second
};

struct ProductShape {
  int64_t rows = 0;        // of the result: pixels of all images, or rows of the matrix
  int64_t columns = 0;     // of one group
  int64_t depth = 0;       // elements of one piece of a row, which lie side by side
  int64_t taps = 1;        // pieces of a row
  int64_t groups = 1;      // of a convolution, or products of a batch
  int64_t src_stride = 0;  // elements from row to row; 0: rows are where the table says
  int64_t src_step = 1;    // elements from one of a row to the next
  int64_t dst_stride = 0;
  bool dst_by_table = false;  // rows of the result are where a table of their own says, not `dst_stride` apart
  DType src = DType::f32;
  DType dst = DType::f32;
  std::optional<OpenWeights> open;       // nothing: weights are packed ahead
  std::optional<ResultShuffle> shuffle;  // of constant weights and one group; the other map has the results' type
  std::vector<BatchAxis> batch;          // of open weights, outermost first; `groups` is the product of their counts

  bool by_table() const { return src_stride == 0; }
};

/// Which index runs fastest inside a task, and which is cut first into tasks.
enum class Axis : uint8_t { rows, columns };

/// How results go to memory.
enum class Results : uint8_t {
  cached,
  ahead,       // their places, and what is added to them, are asked for before the sums are computed
  past_cache,  // around the caches, which spares reading their places; what is added is asked for ahead
};

/// A product on vector registers: a tile of the result stays in them while the whole depth passes.
struct VectorSchedule {
  VectorIsa isa;
  int tile_rows = 6;
  int tile_vectors = 4;
  int64_t task_rows = 0;    // a multiple of tile_rows
  int64_t task_panels = 0;  // a panel is tile_vectors wide
  int64_t depth_block = 0;  // 0: the whole depth at once; else partial sums wait in dst, which has to be f32
  Axis inner = Axis::rows;
  Axis split = Axis::rows;
  int unroll = 2;
  int prefetch = 0;  // steps of the depth that weights are asked for ahead
  /// While rows pass one panel, the next one is brought into L2, a line in every so many steps. For weights that come
  /// from memory; needs rows inside.
  bool fetch_next = false;
  /// While one tile of rows is multiplied, the rows of the next are asked for, a line of each at a time. For maps that
  /// come from memory and few columns to hide that behind; needs rows side by side.
  bool fetch_rows = false;
  /// For results that no cache holds. Past the cache needs vectors that begin at multiples of their size.
  Results results = Results::cached;
  bool pack_weights = true;  // of open weights; false: read where they lie, which needs f32 and columns side by side

  int64_t panel_columns() const { return static_cast<int64_t>(tile_vectors) * isa.lanes; }
};

/// A product on AMX tiles, bf16 only: tiles_down × tiles_across tiles of the result stay in tile registers.
struct TileSchedule {
  int tiles_down = 2;
  int tiles_across = 2;
  int tile_rows = 16;       // at most 16
  int64_t task_rows = 0;    // a multiple of tile_rows; what is left of whole blocks has fewer tiles
  int64_t task_panels = 0;  // a panel is tiles_across * 16 columns
  bool pack_src = true;     // false: tiles are read where the rows lie; needs depth % 32 == 0 and no table
  bool fetch_next = false;  // as of vector schedules
  Axis inner = Axis::rows;
  Axis split = Axis::rows;

  int64_t panel_columns() const { return tiles_across * int64_t{16}; }
  int64_t block_rows() const { return static_cast<int64_t>(tiles_down) * tile_rows; }
};

inline constexpr int64_t kTileDepth = 32;           // bf16 elements in a row of a tile
inline constexpr VectorIsa kTileVectors{16, true};  // what every machine with tiles has

/// Kernels with the entry `name(inputs, outputs, prepared, workspace, begin, end)`. prepared[0] holds the weights as
/// pack_* of the generator lays them out, prepared[1] the table of row positions: for each tile of rows, each tap, each
/// row the element of src where the piece begins, -1 for a piece of zeros. What comes after these is the table of rows
/// of the result: for each the element of dst where it begins; products on vectors alone know it.
std::string vector_product_text(const std::string& name, const ProductShape& shape, const VectorSchedule& schedule,
                                const Epilogue& epilogue);
std::string tile_product_text(const std::string& name, const ProductShape& shape, const TileSchedule& schedule,
                              const Epilogue& epilogue);

/// Tasks of a schedule, and the rows of the table's tiles.
int64_t product_tasks(const ProductShape& shape, int64_t panel_columns, int64_t task_rows, int64_t task_panels);

}  // namespace attune::cube
