// Convolution 3x3 with stride 1 by Winograd's minimal filtering F(m x m, 3x3), f32, channels last (Lavin and Gray,
// 2015): tiles of the input are transformed into (m+2)^2 matrices, multiplied with transformed weights, and transformed
// back. A block of tiles goes through all three steps while it is in cache.
#pragma once

#include "codegen/cube/depthwise.h"

#include <vector>

namespace attune::cube {

struct WinogradShape {
  int64_t images = 0, in_channels = 0, out_channels = 0;  // whole vectors of channels
  DepthwiseAxis down, across;
};

struct WinogradSchedule {
  VectorIsa isa;
  int output_tile = 4;  // m: 2 or 4
  int tile_rows = 6;
  int tile_vectors = 4;
  int64_t block_tiles = 14;  // tiles that pass through cache together
  int64_t task_tiles = 0;    // a multiple of block_tiles
  int64_t task_panels = 0;   // a panel is tile_vectors wide

  int input_tile() const { return output_tile + 2; }
  int positions() const { return input_tile() * input_tile(); }
  int64_t panel_columns() const { return static_cast<int64_t>(tile_vectors) * isa.lanes; }
};

/// The rows of the transforms: of the input (B^T), of the weights (G) and of the result (A^T).
struct WinogradMatrices {
  std::vector<std::vector<double>> input, weights, output;
};
WinogradMatrices winograd_matrices(int output_tile);

/// Tiles of one image, tasks, and bytes of workspace for each task.
int64_t winograd_tiles(const WinogradShape& shape, const WinogradSchedule& schedule);
int64_t winograd_tasks(const WinogradShape& shape, const WinogradSchedule& schedule);
int64_t winograd_task_bytes(const WinogradShape& shape, const WinogradSchedule& schedule);

/// A kernel with the entry `name(…)`; prepared[0] holds the transformed weights: for each position, each panel, each
/// input channel the panel's columns.
std::string winograd_text(const std::string& name, const WinogradShape& shape, const WinogradSchedule& schedule,
                          const Epilogue& epilogue);

}  // namespace attune::cube
