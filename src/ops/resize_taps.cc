#include "ops/resize_taps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace attune {
namespace {

/// From an output position of an axis to a position in the input.
using Transform = std::function<double(double)>;

Transform transform(const OpContext& context, const std::string& mode, const ResizeAxis& axis) {
  const auto in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  const double scale = axis.scale;
  const double width = scale * in;  // of the output before it is rounded down
  if (mode == "half_pixel") return [=](double x) { return (x + 0.5) / scale - 0.5; };
  if (mode == "pytorch_half_pixel") return [=](double x) { return out > 1 ? (x + 0.5) / scale - 0.5 : 0.0; };
  if (mode == "asymmetric") return [=](double x) { return x / scale; };
  if (mode == "tf_half_pixel_for_nn") return [=](double x) { return (x + 0.5) / scale; };
  if (mode == "align_corners") {
    return [=](double x) { return width == 1 ? 0.0 : x * (in - 1) / (width - 1); };
  }
  if (mode == "half_pixel_symmetric") {
    const double offset = in / 2 * (1 - out / width);
    return [=](double x) { return offset + (x + 0.5) / scale - 0.5; };
  }
  if (mode == "tf_crop_and_resize") {
    const double start = axis.roi_start, end = axis.roi_end;
    return [=](double x) {
      if (width == 1) return 0.5 * (start + end) * (in - 1);
      return start * (in - 1) + x * (end - start) * (in - 1) / (width - 1);
    };
  }
  context.fail("coordinate_transformation_mode '{}' is not known", mode);
}

/// The scale came as a float, so a quotient that should be a whole number may miss it by a rounding error.
double snapped(double x) {
  const double nearest = std::round(x);
  return std::fabs(x - nearest) <= 2e-7 * std::fabs(x) ? nearest : x;
}

int64_t nearest_index(const OpContext& context, const std::string& mode, double position, double scale) {
  const double x = snapped(position);
  if (mode == "round_prefer_floor") return static_cast<int64_t>(std::ceil(x - 0.5));
  if (mode == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  if (mode == "floor") return static_cast<int64_t>(std::floor(x));
  if (mode == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (mode == "simple") return static_cast<int64_t>(scale < 1 ? std::ceil(x) : std::floor(x));
  context.fail("nearest_mode '{}' is not known", mode);
}

double cubic_filter(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// Adds the taps of one output: every input within reach of the filter, which antialiasing stretches when shrinking.
void add_filter(const ResizeAttributes& attributes, const ResizeAxis& axis, double x, ResizeTaps& taps) {
  const double stretch = attributes.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double reach = (attributes.mode == ResizeMode::cubic ? 2.0 : 1.0) / stretch;
  const size_t start = taps.indices.size();
  double sum = 0;
  const auto last = static_cast<int64_t>(std::floor(x + reach));
  for (auto i = static_cast<int64_t>(std::ceil(x - reach)); i <= last; ++i) {
    const double distance = (static_cast<double>(i) - x) * stretch;
    const double weight = attributes.mode == ResizeMode::cubic ? cubic_filter(distance, attributes.cubic_a)
                                                               : std::max(0.0, 1 - std::fabs(distance));
    if (weight == 0 || (attributes.exclude_outside && (i < 0 || i >= axis.in))) continue;
    taps.indices.push_back(std::clamp<int64_t>(i, 0, axis.in - 1));
    taps.weights.push_back(weight);
    sum += weight;
  }
  if (sum == 0 && start < taps.indices.size()) return;
  if (start == taps.indices.size()) {  // everything lies outside: the nearest element is the best there is
    taps.indices.push_back(x < 0 ? 0 : axis.in - 1);
    taps.weights.push_back(1);
    return;
  }
  if (attributes.antialias || attributes.exclude_outside)
    for (size_t i = start; i < taps.weights.size(); ++i) taps.weights[i] /= sum;
}

}  // namespace

ResizeAttributes read_resize_attributes(const OpContext& context) {
  ResizeAttributes attributes;
  const bool modern = context.node().op == "Resize" && context.version() >= 11;
  const std::string mode = context.attr_string("mode", "nearest");
  if (mode == "nearest")
    attributes.mode = ResizeMode::nearest;
  else if (mode == "linear" || mode == "bilinear")
    attributes.mode = ResizeMode::linear;
  else if (mode == "cubic" && modern)
    attributes.mode = ResizeMode::cubic;
  else
    context.fail("mode '{}' is not known", mode);
  if (!modern) {
    attributes.coordinates = "asymmetric";
    attributes.nearest_mode = "simple";
    return attributes;
  }
  attributes.coordinates = context.attr_string("coordinate_transformation_mode", "half_pixel");
  attributes.nearest_mode = context.attr_string("nearest_mode", "round_prefer_floor");
  attributes.cubic_a = static_cast<double>(context.attr_float("cubic_coeff_a", -0.75f));
  attributes.extrapolation_value = static_cast<double>(context.attr_float("extrapolation_value", 0.0f));
  attributes.antialias = context.attr_int("antialias", 0) != 0;
  attributes.exclude_outside = context.attr_int("exclude_outside", 0) != 0;
  if (attributes.antialias && attributes.mode == ResizeMode::nearest)
    context.fail("antialias is not defined for mode nearest");
  return attributes;
}

ResizeTaps resize_taps(const OpContext& context, const ResizeAttributes& attributes, const ResizeAxis& axis) {
  ResizeTaps taps;
  const Transform position = transform(context, attributes.coordinates, axis);
  const bool crops = attributes.coordinates == "tf_crop_and_resize";
  // Far outside every axis, yet safe to convert to an integer.
  const double limit = 2.0 * static_cast<double>(axis.in) + 4.0;
  for (int64_t o = 0; o < axis.out; ++o) {
    taps.first.push_back(std::ssize(taps.indices));
    double x = position(static_cast<double>(o));
    if (crops && !(x >= 0 && x <= static_cast<double>(axis.in - 1))) continue;
    x = std::isnan(x) ? 0.0 : std::clamp(x, -limit, limit);
    if (attributes.mode == ResizeMode::nearest) {
      const int64_t index = nearest_index(context, attributes.nearest_mode, x, axis.scale);
      taps.indices.push_back(std::clamp<int64_t>(index, 0, axis.in - 1));
      taps.weights.push_back(1);
    } else {
      add_filter(attributes, axis, x, taps);
    }
  }
  taps.first.push_back(std::ssize(taps.indices));
  return taps;
}

}  // namespace attune
