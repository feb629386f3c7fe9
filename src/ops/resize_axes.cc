#include "ops/resize_axes.h"

#include "ops/dispatch.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr double kMostExtent = 1e15;

std::vector<double> read_floats(const OpContext& context, const Tensor& tensor) {
  std::vector<double> values;
  dispatch<FloatTypes>(tensor.dtype(), context, [&]<class T>() {
    for (int64_t i = 0; i < tensor.count(); ++i)
      values.push_back(static_cast<double>(static_cast<compute_t<T>>(tensor.data<T>()[i])));
  });
  return values;
}

std::vector<int64_t> read_axes(const OpContext& context, int64_t rank) {
  std::vector<int64_t> axes;
  if (!context.has_attr("axes")) {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  for (const int64_t axis : context.attr_ints("axes")) {
    const int64_t normalized = context.axis_in_range(axis, rank);
    if (std::find(axes.begin(), axes.end(), normalized) != axes.end()) context.fail("axis {} is named twice", axis);
    axes.push_back(normalized);
  }
  return axes;
}

enum class AspectRatio { stretch, not_larger, not_smaller };

AspectRatio read_policy(const OpContext& context) {
  const std::string text = context.attr_string("keep_aspect_ratio_policy", "stretch");
  if (text == "stretch") return AspectRatio::stretch;
  if (text == "not_larger") return AspectRatio::not_larger;
  if (text == "not_smaller") return AspectRatio::not_smaller;
  context.fail("keep_aspect_ratio_policy is '{}', expected stretch, not_larger or not_smaller", text);
}

/// In float, as exporters computed the size they expect: 10 * 0.7f is 7 there, but below 7 in double.
int64_t scaled_extent(const OpContext& context, int64_t in, double scale) {
  const float extent = static_cast<float>(in) * static_cast<float>(scale);
  if (!(static_cast<double>(extent) < kMostExtent)) context.fail("dim {} scaled by {} is too large", in, scale);
  return static_cast<int64_t>(std::floor(extent));
}

Dim scaled_dim(const OpContext& context, const Dim& in, double scale) {
  if (in.is_known()) return scaled_extent(context, in.value(), scale);
  if (scale == std::floor(scale) && scale < 1e9) return in * Dim(static_cast<int64_t>(scale));
  const double inverse = 1 / scale;
  if (inverse == std::floor(inverse) && inverse < 1e9) return in.floor_div(Dim(static_cast<int64_t>(inverse)));
  return Dim::unknown();
}

int64_t checked_size(const OpContext& context, const Dim& size) {
  if (!size.is_known()) context.fail("input 'sizes' is not known");
  if (size.value() < 0 || static_cast<double>(size.value()) > kMostExtent)
    context.fail("input 'sizes' holds {}", size.value());
  return size.value();
}

void apply_policy(const OpContext& context, AspectRatio policy, std::vector<ResizeAxis>& axes) {
  if (policy == AspectRatio::stretch) return;
  std::optional<double> common;
  for (const ResizeAxis& axis : axes) {
    if (!axis.resized) continue;
    if (!common)
      common = axis.scale;
    else
      common = policy == AspectRatio::not_larger ? std::min(*common, axis.scale) : std::max(*common, axis.scale);
  }
  for (ResizeAxis& axis : axes) {
    if (!axis.resized) continue;
    const double extent = std::floor(*common * static_cast<double>(axis.in) + 0.5);
    if (!(extent < kMostExtent)) context.fail("dim {} scaled by {} is too large", axis.in, *common);
    axis.scale = *common;
    axis.out = static_cast<int64_t>(extent);
  }
}

}  // namespace

ResizeInputs resize_inputs(const OpContext& context) {
  if (context.node().op == "Upsample") return {.scales = context.version() >= 9 ? 1 : -1};
  if (context.version() < 11) return {.scales = 1};
  return {.roi = 1, .scales = 2, .sizes = 3};
}

ResizeRequest read_resize(const OpContext& context, int64_t rank, const Tensor* scales,
                          std::optional<std::vector<Dim>> sizes, const Tensor* roi) {
  ResizeRequest request;
  request.axes = read_axes(context, rank);
  const size_t count = request.axes.size();
  if (scales != nullptr && scales->count() > 0) request.scales = read_floats(context, *scales);
  if (context.node().op == "Upsample" && context.version() < 9) {
    const auto& values = context.attr_floats("scales");
    request.scales = std::vector<double>(values.begin(), values.end());
  }
  if (request.scales) {
    if (request.scales->size() != count) context.fail("{} scales for {} axes", request.scales->size(), count);
    for (const double scale : *request.scales)
      if (!(scale > 0) || !std::isfinite(scale)) context.fail("a scale is {}, expected one above 0", scale);
  } else if (sizes && !sizes->empty()) {
    if (sizes->size() != count) context.fail("{} sizes for {} axes", sizes->size(), count);
    request.sizes = std::move(sizes);
  }
  if (roi != nullptr && roi->count() > 0) {
    request.roi = read_floats(context, *roi);
    // It only matters to one mode; others tolerate whatever stands there.
    if (request.roi.size() != 2 * count) request.roi.clear();
  }
  return request;
}

std::vector<ResizeAxis> resize_axes(const OpContext& context, const ResizeRequest& request, const Dims& dims) {
  if (!request.scales && !request.sizes && !request.axes.empty()) context.fail("neither scales nor sizes are given");
  std::vector<ResizeAxis> axes;
  for (const int64_t dim : dims) axes.push_back({.in = dim, .out = dim});
  for (size_t i = 0; i < request.axes.size(); ++i) {
    ResizeAxis& axis = axes[static_cast<size_t>(request.axes[i])];
    axis.resized = true;
    if (!request.roi.empty()) {
      axis.roi_start = request.roi[i];
      axis.roi_end = request.roi[request.axes.size() + i];
    }
    if (request.scales) {
      axis.scale = (*request.scales)[i];
      axis.out = scaled_extent(context, axis.in, axis.scale);
      continue;
    }
    axis.out = checked_size(context, (*request.sizes)[i]);
    if (axis.in == 0 && axis.out > 0) context.fail("an empty axis cannot be resized to {}", axis.out);
    axis.scale = axis.in == 0 ? 1.0 : static_cast<double>(axis.out) / static_cast<double>(axis.in);
  }
  if (request.sizes) apply_policy(context, read_policy(context), axes);
  return axes;
}

Shape resized_shape(const OpContext& context, const ResizeRequest& request, const Shape& shape) {
  const auto dims = concrete(shape);
  const bool sizes_known = !request.sizes || concrete(*request.sizes);
  if (dims && (request.scales || request.sizes) && sizes_known) {
    Shape result;
    for (const ResizeAxis& axis : resize_axes(context, request, *dims)) result.emplace_back(axis.out);
    return result;
  }
  Shape result = shape;
  const bool stretch = read_policy(context) == AspectRatio::stretch;
  for (size_t i = 0; i < request.axes.size(); ++i) {
    Dim& dim = result[static_cast<size_t>(request.axes[i])];
    if (request.scales)
      dim = scaled_dim(context, dim, (*request.scales)[i]);
    else
      dim = request.sizes && stretch ? (*request.sizes)[i] : Dim::unknown();
  }
  return result;
}

}  // namespace attune
