// Where each output of a resized axis reads: coordinates by every transformation mode, weights by every interpolation.
#pragma once

#include "ops/resize_axes.h"

namespace attune {

enum class ResizeMode { nearest, linear, cubic };

/// The attributes of Resize; for older opsets, what they did.
struct ResizeAttributes {
  ResizeMode mode = ResizeMode::nearest;
  std::string coordinates;   // coordinate_transformation_mode
  std::string nearest_mode;  // "simple" before opset 11
  double cubic_a = -0.75;
  double extrapolation_value = 0;
  bool antialias = false;
  bool exclude_outside = false;
};
ResizeAttributes read_resize_attributes(const OpContext& context);

/// Output o of an axis is the sum of weights[i] * in[indices[i]] for i in [first[o], first[o + 1]). No taps at all: the
/// output lies outside and takes the extrapolation value.
struct ResizeTaps {
  std::vector<int64_t> first;
  std::vector<int64_t> indices;
  std::vector<double> weights;
};
ResizeTaps resize_taps(const OpContext& context, const ResizeAttributes& attributes, const ResizeAxis& axis);

}  // namespace attune
