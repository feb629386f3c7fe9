// Convolution with a filter of several taps on AMX tiles, bf16, channels last. A task copies the input rows that it
// needs into a band with the padding around them; every tile of pixels is then read where it lies, at equal distances.
#pragma once

#include "codegen/cube/depthwise.h"
#include "codegen/cube/product.h"

namespace attune::cube {

struct BandShape {
  ProductShape product;  // its taps are rows of the filter where `merged`, else single taps
  int64_t images = 0;
  int64_t channels = 0;  // of a source pixel, all groups
  DepthwiseAxis down, across;
  bool merged = false;  // a row of the filter is one piece: its pixels lie side by side
};

struct BandSchedule {
  int tiles_down = 2;
  int tiles_across = 2;
  int tile_pixels = 16;     // of one output row, at most 16; those beyond the row are computed and dropped
  int64_t band_rows = 0;    // output rows of a task
  int64_t task_panels = 0;  // a panel is tiles_across * 16 columns
  Axis inner = Axis::rows;

  int64_t panel_columns() const { return tiles_across * int64_t{16}; }
};

/// Bytes of the band of a task, which lies on the stack.
int64_t band_bytes(const BandShape& shape, int64_t band_rows);
int64_t band_tasks(const BandShape& shape, const BandSchedule& schedule);

/// A kernel with the entry `name(…)`; prepared[0] holds the weights as tile_product_text has them.
std::string band_text(const std::string& name, const BandShape& shape, const BandSchedule& schedule,
                      const Epilogue& epilogue);

}  // namespace attune::cube
