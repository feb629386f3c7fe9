// Depthwise convolution over two spatial dims: each channel has a filter of its own, so vectors hold channels and a
// tile of pixels of one output row stays in registers while the filter passes.
#pragma once

#include "codegen/cube/epilogue_text.h"
#include "codegen/cube/vectors.h"

#include <string>

namespace attune::cube {

/// Elements from one pixel, row, image and block of channels to the next; 0 for blocks whose channels lie side by side.
struct PixelStrides {
  int64_t pixel = 0, row = 0, image = 0, block = 0;
};

/// One spatial axis.
struct DepthwiseAxis {
  int64_t in = 0, out = 0, kernel = 1, stride = 1, dilation = 1, pad = 0;
};

struct DepthwiseShape {
  int64_t images = 0, channels = 0;
  DepthwiseAxis down, across;
  PixelStrides src_strides, dst_strides;
  bool padded_channels = false;  // the layout has whole blocks of channels; those beyond the last hold zeros
  DType src = DType::f32;
  DType dst = DType::f32;
};

struct DepthwiseSchedule {
  VectorIsa isa;
  int tile_pixels = 6;
  int64_t task_rows = 0;    // output rows of a task
  int64_t task_blocks = 0;  // blocks of `lanes` channels of a task
};

/// A kernel with the entry `name(inputs, outputs, prepared, workspace, begin, end)`; prepared[0] holds the filters in
/// f32: for each block of channels, each tap, one vector.
std::string depthwise_text(const std::string& name, const DepthwiseShape& shape, const DepthwiseSchedule& schedule,
                           const Epilogue& epilogue);
int64_t depthwise_tasks(const DepthwiseShape& shape, const DepthwiseSchedule& schedule);

}  // namespace attune::cube
