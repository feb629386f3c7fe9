#include "ops/sample_taps.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr double kCubicA = -0.75;

double cubic_weight(double distance) {
  const double x = std::fabs(distance);
  if (x <= 1) return ((kCubicA + 2) * x - (kCubicA + 3)) * x * x + 1;
  if (x < 2) return ((kCubicA * x - 5 * kCubicA) * x + 8 * kCubicA) * x - 4 * kCubicA;
  return 0;
}

/// In the grid's own precision, so that ties fall as they do where the model was trained.
template <class G> G denormalized(G coordinate, int64_t extent, bool align_corners) {
  const auto length = static_cast<G>(extent);
  if (align_corners) return (coordinate + 1) / 2 * (length - 1);
  return ((coordinate + 1) * length - 1) / 2;
}

}  // namespace

SampleAttributes read_sample_attributes(const OpContext& context) {
  SampleAttributes attributes;
  const std::string mode = context.attr_string("mode", "linear");
  if (mode == "nearest")
    attributes.mode = SampleMode::nearest;
  else if (mode == "linear" || mode == "bilinear")
    attributes.mode = SampleMode::linear;
  else if (mode == "cubic" || mode == "bicubic")
    attributes.mode = SampleMode::cubic;
  else
    context.fail("mode is '{}', expected nearest, linear or cubic", mode);
  const std::string padding = context.attr_string("padding_mode", "zeros");
  if (padding == "zeros")
    attributes.padding = SamplePadding::zeros;
  else if (padding == "border")
    attributes.padding = SamplePadding::border;
  else if (padding == "reflection")
    attributes.padding = SamplePadding::reflection;
  else
    context.fail("padding_mode is '{}', expected zeros, border or reflection", padding);
  attributes.align_corners = context.attr_int("align_corners", 0) != 0;
  return attributes;
}

SampleTaps::SampleTaps(const SampleAttributes& attributes, const Dims& spatial)
    : attributes_(attributes), spatial_(spatial), strides_(row_major_strides(spatial)) {
  size_t most = 1;
  for (size_t i = 0; i < spatial.size(); ++i) most *= 4;
  offsets_.resize(most);
  weights_.resize(most);
}

double SampleTaps::reflected(size_t axis, double position) const {
  const double low = attributes_.align_corners ? 0.0 : -0.5;
  const double high = static_cast<double>(spatial_[axis]) - (attributes_.align_corners ? 1.0 : 0.5);
  const double range = high - low;
  if (position >= low && position <= high) return position;
  if (range <= 0) return low;
  const double distance = position < low ? low - position : position - high;
  const double turns = std::floor(distance / range), rest = distance - turns * range;
  const bool from_near = std::fmod(turns, 2.0) == 0;
  return (position < low) == from_near ? low + rest : high - rest;
}

int64_t SampleTaps::padded_index(size_t axis, int64_t i) const {
  const int64_t last = spatial_[axis] - 1;
  if (i >= 0 && i <= last) return i;
  switch (attributes_.padding) {
    case SamplePadding::zeros: return -1;
    case SamplePadding::border: return std::clamp<int64_t>(i, 0, last);
    case SamplePadding::reflection:
      return std::clamp<int64_t>(static_cast<int64_t>(reflected(axis, static_cast<double>(i))), 0, last);
  }
  return -1;
}

SampleTaps::AxisTaps SampleTaps::axis_taps(size_t axis, double position) const {
  const double extent = static_cast<double>(spatial_[axis]);
  if (attributes_.mode == SampleMode::nearest) position = std::nearbyint(position);  // ties to even
  const double low = attributes_.align_corners ? 0.0 : -0.5;
  const double high = attributes_.align_corners ? extent - 1 : extent - 0.5;
  if (std::isnan(position)) position = -2.0;
  if (position < low || position > high) {
    // Far outside all positions give the same; this one is safe to convert to an integer.
    position = std::clamp(position, -1e15, 1e15);
    if (attributes_.padding == SamplePadding::border) position = std::clamp(position, 0.0, extent - 1);
    if (attributes_.padding == SamplePadding::reflection) position = reflected(axis, position);
  }
  AxisTaps taps;
  const auto add = [&](int64_t index, double weight) {
    const int64_t padded = padded_index(axis, index);
    if (padded < 0 || weight == 0) return;
    taps.indices[taps.count] = padded;
    taps.weights[taps.count++] = weight;
  };
  if (attributes_.mode == SampleMode::nearest) {
    add(static_cast<int64_t>(position), 1.0);
    return taps;
  }
  const double floor = std::floor(position);
  const auto first = static_cast<int64_t>(floor);
  if (attributes_.mode == SampleMode::linear) {
    add(first, 1 - (position - floor));
    add(first + 1, position - floor);
    return taps;
  }
  for (int64_t i = first - 1; i <= first + 2; ++i) add(i, cubic_weight(position - static_cast<double>(i)));
  return taps;
}

template <class G> void SampleTaps::locate(const G* point) {
  count_ = 1;
  offsets_[0] = 0;
  weights_[0] = 1;
  const size_t rank = spatial_.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    const G position = denormalized(point[rank - 1 - axis], spatial_[axis], attributes_.align_corners);
    const AxisTaps taps = axis_taps(axis, static_cast<double>(position));
    // From the last tap down, so that the entries of the first may be overwritten last.
    for (int tap = taps.count; tap-- > 0;) {
      const auto to = static_cast<size_t>(tap) * count_;
      for (size_t i = 0; i < count_; ++i) {
        offsets_[to + i] = offsets_[i] + taps.indices[tap] * strides_[axis];
        weights_[to + i] = weights_[i] * taps.weights[tap];
      }
    }
    count_ *= static_cast<size_t>(taps.count);
  }
}

template void SampleTaps::locate<float>(const float*);
template void SampleTaps::locate<double>(const double*);

}  // namespace attune
