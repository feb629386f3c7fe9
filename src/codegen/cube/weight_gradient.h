// The gradient of a convolution by its weights over two spatial dims, channels last: for each tap the product of the
// results' gradients with the data that they met, summed over all pixels. Vectors hold input channels; a tile of output
// and input channels stays in registers while the pixels of a band of rows pass.
#pragma once

#include "codegen/cube/depthwise.h"

namespace attune::cube {

struct WeightGradientShape {
  int64_t images = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of one group
  DepthwiseAxis down, across;
  bool bias = false;  // its gradient is outputs[1]
  DType src = DType::f32;
  DType dst = DType::f32;
};

struct WeightGradientSchedule {
  VectorIsa isa;
  int tile_rows = 6;     // output channels of a register tile
  int tile_vectors = 4;  // of input channels
  int64_t band_rows = 0;
  int64_t task_rows = 0;     // output channels of a task, a multiple of tile_rows
  int64_t task_columns = 0;  // input channels of a task, a multiple of the tile's

  int64_t tile_columns() const { return static_cast<int64_t>(tile_vectors) * isa.lanes; }
};

/// A kernel with the usual entry; inputs are the data and the results' gradients.
std::string weight_gradient_text(const std::string& name, const WeightGradientShape& shape,
                                 const WeightGradientSchedule& schedule);
int64_t weight_gradient_tasks(const WeightGradientShape& shape, const WeightGradientSchedule& schedule);

}  // namespace attune::cube
