// What Resize and Upsample are asked to do along each axis: the inputs and attributes of every opset, read into one
// form.
#pragma once

#include "ops/context.h"

#include <optional>
#include <vector>

namespace attune {

/// One axis on concrete dims. Axes that are not resized have in == out and scale 1.
struct ResizeAxis {
  int64_t in = 0;
  int64_t out = 0;
  double scale = 1;      // as given, or out / in when sizes are given
  double roi_start = 0;  // for tf_crop_and_resize, normalised
  double roi_end = 1;
  bool resized = false;  // named by `axes`
};

/// The request as far as it is known; each list has one value for each of `axes`.
struct ResizeRequest {
  std::vector<int64_t> axes;
  std::optional<std::vector<double>> scales;
  std::optional<std::vector<Dim>> sizes;
  std::vector<double> roi;  // starts, then ends; empty when not given
};

/// Which inputs hold what depends on the opset; -1: none.
struct ResizeInputs {
  int roi = -1;
  int scales = -1;
  int sizes = -1;
};
ResizeInputs resize_inputs(const OpContext& context);

/// Reads `axes` and checks the length of the lists. `scales` and `roi` may be nullptr or empty tensors.
ResizeRequest read_resize(const OpContext& context, int64_t rank, const Tensor* scales,
                          std::optional<std::vector<Dim>> sizes, const Tensor* roi);
/// Fails on sizes that cannot be.
std::vector<ResizeAxis> resize_axes(const OpContext& context, const ResizeRequest& request, const Dims& dims);
/// The output's shape where dims or sizes may be symbolic.
Shape resized_shape(const OpContext& context, const ResizeRequest& request, const Shape& shape);

}  // namespace attune
