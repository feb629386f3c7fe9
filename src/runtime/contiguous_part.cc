#include "runtime/contiguous_part.h"

namespace attune {
namespace {

constexpr int64_t kAlignment = 64;  // what Kernel promises of its buffers

int64_t block_of(Layout layout) { return layout == Layout::nchw16c ? 16 : layout == Layout::nchw8c ? 8 : 1; }

/// The dims in the order in which they lie in memory; blocks of channels are no dim of their own.
Dims stored(const TensorSpec& spec) {
  Dims dims = spec.dims;
  if (spec.layout == Layout::nhwc && dims.size() > 2) {
    dims.erase(dims.begin() + 1);
    dims.push_back(spec.dims[1]);
  }
  return dims;
}

/// The position of an axis in that order.
size_t stored_axis(const TensorSpec& spec, size_t axis) {
  if (spec.layout != Layout::nhwc || axis == 0) return axis;
  return axis == 1 ? spec.dims.size() - 1 : axis - 1;
}

}  // namespace

std::optional<int64_t> part_offset(const TensorSpec& whole, size_t axis, int64_t begin, int64_t length) {
  if (axis >= whole.dims.size() || bit_width(whole.dtype) < 8) return std::nullopt;
  const int64_t block = block_of(whole.layout);
  // Blocked layouts keep a block of channels beside each pixel: only whole blocks of one image are one piece.
  if (block > 1 && (axis != 1 || begin % block != 0 || length % block != 0 || whole.dims[1] % block != 0))
    return std::nullopt;
  const Dims dims = stored(whole);
  const size_t at = stored_axis(whole, axis);
  int64_t elements = begin;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i < at && dims[i] != 1) return std::nullopt;
    if (i > at) elements *= dims[i];
  }
  const int64_t offset = elements * bit_width(whole.dtype) / 8;
  return offset % kAlignment == 0 ? std::optional(offset) : std::nullopt;
}

}  // namespace attune
