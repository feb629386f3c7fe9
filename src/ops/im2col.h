// Windows of a convolution laid out as the columns of a matrix, a block of output positions at a time, so that the
// memory for it stays small whatever the image.
#pragma once

#include "ops/conv_shape.h"
#include "ops/strided_walk.h"

#include <algorithm>
#include <cstring>

namespace attune {

/// Input positions and validity of one tap of the window over rows of output positions; axes must not be empty.
class TapRows {
 public:
  explicit TapRows(const std::vector<WindowAxis>& axes) : axes_(axes), outer_(axes.size() - 1), index_(outer_, 0) {
    Dims in_dims;
    for (const WindowAxis& axis : axes) in_dims.push_back(axis.in);
    strides_ = row_major_strides(in_dims);
  }

  /// Goes to the row of the linear output position (a row: all positions of the last axis).
  void seek_row(int64_t row) {
    for (size_t i = outer_; i-- > 0;) {
      index_[i] = row % axes_[i].out;
      row /= axes_[i].out;
    }
  }

  /// Element offset in one channel of the input of (row, tap) at last-axis position 0; negative when the row lies in
  /// the padding.
  int64_t row_offset(std::span<const int64_t> tap) const {
    int64_t offset = 0;
    for (size_t i = 0; i < outer_; ++i) {
      const int64_t at = axes_[i].start(index_[i]) + tap[i] * axes_[i].dilation;
      if (at < 0 || at >= axes_[i].in) return -1;
      offset += at * strides_[i];
    }
    return offset;
  }

 private:
  const std::vector<WindowAxis>& axes_;
  size_t outer_;
  Dims index_, strides_;
};

/// columns[(c * kernel_size + tap) * row_stride + j] = src at output position first + j, tap and channel c of the
/// group, `pad` where the window lies outside. src holds geometry.in_channels channels; geometry.axes must not be
/// empty.
template <class T> void im2col(const ConvGeometry& geometry, const T* src, int64_t first, int64_t count, T pad,
                               T* columns, int64_t row_stride) {
  const std::vector<WindowAxis>& axes = geometry.axes;
  const WindowAxis& last = axes.back();
  const int64_t in_size = geometry.in_size(), kernel_size = geometry.kernel_size();
  Dims kernel;
  for (const WindowAxis& axis : axes) kernel.push_back(axis.kernel);
  TapRows rows(axes);
  StridedWalk<0> tap_walk(kernel, {});
  for (int64_t tap = 0; tap < kernel_size; ++tap, tap_walk.next()) {
    const int64_t last_tap = tap_walk.index().back();
    const OutRange inside = outs_inside(last, last_tap);
    for (int64_t at = first; at < first + count;) {
      const int64_t row = at / last.out, begin = at % last.out;
      const int64_t end = std::min(last.out, begin + first + count - at);
      rows.seek_row(row);
      const int64_t offset = rows.row_offset(tap_walk.index());
      const int64_t from = offset < 0 ? end : std::clamp(inside.begin, begin, end);
      const int64_t to = offset < 0 ? end : std::clamp(inside.end, from, end);
      for (int64_t c = 0; c < geometry.in_channels; ++c) {
        T* out = columns + (c * kernel_size + tap) * row_stride + (at - first) - begin;
        std::fill(out + begin, out + from, pad);
        if (from < to) {
          const T* in = src + c * in_size + offset + last_tap * last.dilation + from * last.stride - last.pad_begin;
          if (last.stride == 1)
            std::memcpy(out + from, in, static_cast<size_t>(to - from) * sizeof(T));
          else
            for (int64_t x = from; x < to; ++x) out[x] = in[(x - from) * last.stride];
        }
        std::fill(out + to, out + end, pad);
      }
      at += end - begin;
    }
  }
}

}  // namespace attune
