// Convolution with a filter of several taps, channels last. A task copies the input rows that it needs into a band with
// the padding around them; every tile of pixels is then read where it lies, at equal distances.
#pragma once

#include "codegen/cube/depthwise.h"
#include "codegen/cube/product.h"

namespace attune::cube {

struct BandShape {
  ProductShape product;  // its taps are rows of the filter where `merged`, else single taps
  int64_t images = 0;
  int64_t channels = 0;       // of a source pixel, all groups
  int64_t band_channels = 0;  // of a pixel in the band: those and zeros
  DepthwiseAxis down, across;
  bool merged = false;              // a row of the filter is one piece: its pixels lie side by side
  int64_t step_depth = kTileDepth;  // elements of a row of a tile; divides product.depth
};

/// On AMX tiles, bf16.
struct BandSchedule {
  int tiles_down = 2;
  int tiles_across = 2;
  int tile_pixels = 16;   // at most 16, of one output row; those beyond the row are computed and dropped
  bool joined = false;    // pixels of the band instead: tiles run on through the padding between rows, with steps of 1
  int64_t band_rows = 0;  // output rows of a task
  int64_t task_panels = 0;  // a panel is tiles_across * 16 columns
  Axis inner = Axis::rows;

  int64_t panel_columns() const { return tiles_across * int64_t{16}; }
};

/// The same on vector registers, in f32: a tile of pixels of one output row stays in them while the filter passes.
struct BandVectorSchedule {
  VectorIsa isa;
  int tile_pixels = 6;
  int tile_vectors = 4;
  int64_t band_rows = 0;    // output rows of a task
  int64_t task_panels = 0;  // a panel is tile_vectors wide
  Axis inner = Axis::rows;

  int64_t panel_columns() const { return static_cast<int64_t>(tile_vectors) * isa.lanes; }
};

/// Bytes of the band of a task, which lies on the stack.
int64_t band_bytes(const BandShape& shape, int64_t band_rows);
int64_t band_tasks(const BandShape& shape, int64_t panel_columns, int64_t band_rows, int64_t task_panels);

/// A kernel with the entry `name(…)`; prepared[0] holds the weights as tile_product_text has them, in tiles of
/// step_depth / 2 rows.
std::string band_text(const std::string& name, const BandShape& shape, const BandSchedule& schedule,
                      const Epilogue& epilogue);

/// The same for vectors; prepared[0] holds the weights as vector_product_text has them. The shape is merged.
std::string band_vector_text(const std::string& name, const BandShape& shape, const BandVectorSchedule& schedule,
                             const Epilogue& epilogue);

}  // namespace attune::cube
