// Convolution 3x3 with stride 1 by Winograd's minimal filtering F(m x m, 3x3), f32, channels last or in blocks (Lavin
// and Gray, 2015): tiles of the input are transformed into (m+2)^2 matrices, multiplied with transformed weights, and
// transformed back. A block of tiles goes through all three steps while it is in cache.
#pragma once

#include "codegen/cube/depthwise.h"

#include <vector>

namespace attune::cube {

struct WinogradShape {
  int64_t images = 0, in_channels = 0, out_channels = 0;  // whole vectors of channels
  DepthwiseAxis down, across;
  PixelStrides src_strides, dst_strides;
};

struct WinogradSchedule {
  VectorIsa isa;
  int output_tile = 4;  // m: 2 or 4
  int tile_rows = 6;
  int tile_vectors = 4;
  int64_t block_tiles = 14;  // tiles that pass through cache together
  int64_t task_tiles = 0;    // a multiple of block_tiles
  int64_t task_panels = 0;   // a panel is tile_vectors wide
  bool fetch_next = false;   // ask for the next panel of weights while tiles pass this one

  int input_tile() const { return output_tile + 2; }
  int positions() const { return input_tile() * input_tile(); }
  int64_t panel_columns() const { return static_cast<int64_t>(tile_vectors) * isa.lanes; }
};

/// Polynomials are evaluated at 0, at infinity and at pairs of points ±p; these are the squares p^2. F(4,3) has 1/2 and
/// 2: the usual points ±1 and ±2 err five times as much, for they weigh sums by up to 8^2 where these weigh by 8.
std::vector<double> winograd_squares(int output_tile);

/// Coefficients, lowest first, of the product of (x^2 - s) in powers of x^2, over all squares but number `without`.
std::vector<double> winograd_even(const std::vector<double>& squares, size_t without);

/// The weights' transform (G), a row for each point: 0, each p and -p, infinity.
std::vector<std::vector<double>> winograd_weight_rows(int output_tile);

/// Tiles of one image, tasks, and bytes of workspace for each task.
int64_t winograd_tiles(const WinogradShape& shape, const WinogradSchedule& schedule);
int64_t winograd_tasks(const WinogradShape& shape, const WinogradSchedule& schedule);
int64_t winograd_task_bytes(const WinogradShape& shape, const WinogradSchedule& schedule);

/// A kernel with the entry `name(…)`; prepared[0] holds the transformed weights: for each position, each panel, each
/// input channel the panel's columns.
std::string winograd_text(const std::string& name, const WinogradShape& shape, const WinogradSchedule& schedule,
                          const Epilogue& epilogue);

}  // namespace attune::cube
