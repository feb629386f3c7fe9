// Window arithmetic shared by convolutions and pooling: attributes read and validated once, output extents (symbolic
// and concrete), paddings that auto_pad stands for.
#pragma once

#include "ops/context.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace attune {

enum class AutoPad : uint8_t { notset, same_upper, same_lower, valid };

/// A sliding window over `kernel.size()` spatial axes; every number has been validated.
struct Window {
  AutoPad auto_pad = AutoPad::notset;
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;  // begin of every axis, then end of every axis; meaningful only for AutoPad::notset
  bool ceil_mode = false;
};

/// One axis of a window on concrete dims.
struct WindowAxis {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  /// Input position of tap 0 of output `o`; negative inside the padding.
  int64_t start(int64_t o) const { return o * stride - pad_begin; }
};

/// The taps of a window that read inside the input.
struct TapRange {
  int64_t begin = 0;
  int64_t end = 0;  // begin == end: none
};
inline TapRange taps_inside(const WindowAxis& axis, int64_t start) {
  const int64_t first = start >= 0 ? 0 : (-start + axis.dilation - 1) / axis.dilation;
  const int64_t last = start >= axis.in ? 0 : (axis.in - 1 - start) / axis.dilation + 1;
  return {first, std::max(first, std::min(last, axis.kernel))};
}

/// The outputs of one axis whose tap `k` reads inside the input.
struct OutRange {
  int64_t begin = 0;
  int64_t end = 0;
};
OutRange outs_inside(const WindowAxis& axis, int64_t tap);

/// Attribute group, at least 1.
int64_t read_groups(const OpContext& context);
AutoPad read_auto_pad(const OpContext& context);
/// A list attribute of one value for each spatial axis; `fallback` when missing. Fails on another length or on values
/// outside [least, 2^31).
std::vector<int64_t> spatial_attr(const OpContext& context, std::string_view name, int64_t rank, int64_t fallback,
                                  int64_t least);
/// Reads auto_pad, pads, strides, dilations and ceil_mode for a given kernel.
Window read_window(const OpContext& context, std::vector<int64_t> kernel);
/// The same with the kernel of attribute kernel_shape, as pooling has it. `rank` is the number of spatial axes.
Window read_pool_window(const OpContext& context, int64_t rank);

/// Output extent of each spatial axis; unknown where the input is.
Shape window_output(const OpContext& context, const Window& window, std::span<const Dim> spatial);
/// The same on numbers, with resolved paddings.
std::vector<WindowAxis> window_axes(const OpContext& context, const Window& window, std::span<const int64_t> spatial);

/// Output (N, M, spatial…) of a convolution of src (N, C, spatial…) with weights (M, C/group, kernel…): also serves the
/// integer convolutions. Nothing when the rank is unknown.
std::optional<Shape> conv_output_shape(const OpContext& context, const std::optional<Shape>& src,
                                       const std::optional<Shape>& weights);

/// A convolution on concrete dims.
struct ConvGeometry {
  int64_t batch = 0;
  int64_t groups = 1;
  int64_t in_channels = 0;   // of one group
  int64_t out_channels = 0;  // of one group
  std::vector<WindowAxis> axes;

  int64_t in_size() const;      // product of the input's spatial dims
  int64_t out_size() const;     // product of the output's spatial dims
  int64_t kernel_size() const;  // product of the kernel's dims
};
ConvGeometry conv_geometry(const OpContext& context, std::span<const int64_t> src, std::span<const int64_t> weights);

}  // namespace attune
