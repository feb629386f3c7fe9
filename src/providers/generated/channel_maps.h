// How maps of channels lie in memory and how a filter passes over them, as texts of kernels want it.
#pragma once

#include "codegen/cube/depthwise.h"
#include "kernel/workload.h"
#include "ops/conv_shape.h"

namespace attune::generated {

/// Channels in a block of a blocked layout; 0 for channels that lie side by side.
int64_t block_channels(Layout layout);

/// For channels last, and for channels in blocks.
cube::PixelStrides pixel_strides(Layout layout, int64_t channels, int64_t height, int64_t width);

cube::DepthwiseAxis filter_axis(const WindowAxis& axis);

}  // namespace attune::generated
