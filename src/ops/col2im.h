// The reverse of im2col: columns of windows added back into an image.
#pragma once

#include "ops/im2col.h"

namespace attune {

/// image[position of (output o, tap)] += columns[tap * row_stride + o]; what falls into the padding is dropped. `axes`
/// are those of the window that im2col would slide over the image and must not be empty.
template <class T, class Sum>
void add_columns(const std::vector<WindowAxis>& axes, const T* columns, int64_t row_stride, Sum* image) {
  for (const WindowAxis& axis : axes)
    if (axis.out == 0) return;
  const WindowAxis& last = axes.back();
  int64_t rows = 1, taps = 1;
  Dims kernel;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i + 1 < axes.size()) rows *= axes[i].out;
    taps *= axes[i].kernel;
    kernel.push_back(axes[i].kernel);
  }
  TapRows tap_rows(axes);
  StridedWalk<0> tap_walk(kernel, {});
  for (int64_t tap = 0; tap < taps; ++tap, tap_walk.next()) {
    const int64_t last_tap = tap_walk.index().back();
    const OutRange inside = outs_inside(last, last_tap);
    for (int64_t row = 0; row < rows; ++row) {
      tap_rows.seek_row(row);
      const int64_t offset = tap_rows.row_offset(tap_walk.index());
      if (offset < 0 || inside.begin == inside.end) continue;
      const T* from = columns + tap * row_stride + row * last.out;
      Sum* to = image + offset + last_tap * last.dilation - last.pad_begin;
      for (int64_t x = inside.begin; x < inside.end; ++x) to[x * last.stride] += static_cast<Sum>(from[x]);
    }
  }
}

}  // namespace attune
