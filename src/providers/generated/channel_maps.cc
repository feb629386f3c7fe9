#include "providers/generated/channel_maps.h"

#include "codegen/cube/task_grid.h"

namespace attune::generated {

int64_t block_channels(Layout layout) {
  if (layout == Layout::nchw16c) return 16;
  return layout == Layout::nchw8c ? 8 : 0;
}

cube::PixelStrides pixel_strides(Layout layout, int64_t channels, int64_t height, int64_t width) {
  const int64_t block = block_channels(layout);
  if (block == 0) return {channels, width * channels, height * width * channels, 0};
  const int64_t blocks = cube::divide_up(channels, block);
  return {block, width * block, blocks * height * width * block, height * width * block};
}

cube::DepthwiseAxis filter_axis(const WindowAxis& axis) {
  return {axis.in, axis.out, axis.kernel, axis.stride, axis.dilation, axis.pad_begin};
}

}  // namespace attune::generated
