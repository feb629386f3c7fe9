#include "ops/conv_shape.h"

#include <limits>

namespace attune {
namespace {

// With every attribute below 2^31 and every extent below 2^60, no sum or product here can overflow.
constexpr int64_t kMostAttribute = (int64_t{1} << 31) - 1;
constexpr int64_t kMostExtent = int64_t{1} << 60;

int64_t reach(const Window& window, size_t axis) { return (window.kernel[axis] - 1) * window.dilations[axis] + 1; }

void check_kernel(const OpContext& context, std::span<const int64_t> kernel) {
  for (const int64_t size : kernel)
    if (size < 1 || size > kMostAttribute) context.fail("kernel {} has a size outside [1, 2^31)", to_text(kernel));
}

WindowAxis window_axis(const OpContext& context, const Window& window, size_t i, int64_t in) {
  if (in < 0 || in > kMostExtent) context.fail("spatial dim {} is out of range", in);
  const size_t rank = window.kernel.size();
  WindowAxis axis{.in = in,
                  .out = 0,
                  .kernel = window.kernel[i],
                  .stride = window.strides[i],
                  .dilation = window.dilations[i],
                  .pad_begin = 0,
                  .pad_end = 0};
  const int64_t extent = reach(window, i);
  if (window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower) {
    axis.out = in / axis.stride + (in % axis.stride != 0);
    const int64_t total = std::max<int64_t>(0, (axis.out - 1) * axis.stride + extent - in);
    axis.pad_begin = window.auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
    axis.pad_end = total - axis.pad_begin;
    return axis;
  }
  if (window.auto_pad == AutoPad::notset) {
    axis.pad_begin = window.pads[i];
    axis.pad_end = window.pads[rank + i];
  }
  const int64_t room = in + axis.pad_begin + axis.pad_end - extent;
  if (room < -axis.stride)
    context.fail("a window that reaches over {} elements does not fit into dim {} with paddings {} and {}", extent, in,
                 axis.pad_begin, axis.pad_end);
  if (room < 0) return axis;  // no window fits: an empty output
  axis.out = room / axis.stride + 1;
  if (window.ceil_mode && window.auto_pad == AutoPad::notset && room % axis.stride != 0) {
    // The last, partial window counts only if it starts before the padding at the end.
    if (axis.out * axis.stride < in + axis.pad_begin) ++axis.out;
  }
  return axis;
}

Dim symbolic_out(const Window& window, size_t i, const Dim& in) {
  const Dim stride(window.strides[i]);
  if (window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower) return in.ceil_div(stride);
  const size_t rank = window.kernel.size();
  const bool explicit_pads = window.auto_pad == AutoPad::notset;
  const int64_t pad_begin = explicit_pads ? window.pads[i] : 0;
  const int64_t pad_end = explicit_pads ? window.pads[rank + i] : 0;
  const Dim room = in + Dim(pad_begin + pad_end - reach(window, i));
  if (!window.ceil_mode || !explicit_pads || window.strides[i] == 1) return room.floor_div(stride) + Dim(1);
  // Whether the last window starts in the padding depends on the number, unless it cannot at all.
  if (window.strides[i] + pad_end > reach(window, i)) return Dim::unknown();
  return room.ceil_div(stride) + Dim(1);
}

/// Saturates: beside an empty dim the others may be of any size.
int64_t product(const std::vector<WindowAxis>& axes, int64_t WindowAxis::*member) {
  Dims dims;
  for (const WindowAxis& axis : axes) dims.push_back(axis.*member);
  return checked_count(dims).value_or(std::numeric_limits<int64_t>::max());
}

void check_channels(const OpContext& context, int64_t channels, int64_t out_channels, int64_t per_group,
                    int64_t groups) {
  if (channels % groups != 0 || channels / groups != per_group)
    context.fail("input has {} channels, but the weights take {} in each of {} groups", channels, per_group, groups);
  if (out_channels % groups != 0) context.fail("{} output channels do not divide into {} groups", out_channels, groups);
}

}  // namespace

OutRange outs_inside(const WindowAxis& axis, int64_t tap) {
  const int64_t offset = tap * axis.dilation - axis.pad_begin;  // input position at output 0
  const int64_t first = offset >= 0 ? 0 : (-offset + axis.stride - 1) / axis.stride;
  const int64_t last = offset >= axis.in ? 0 : (axis.in - 1 - offset) / axis.stride + 1;
  const int64_t begin = std::min(first, axis.out);
  return {begin, std::max(begin, std::min(last, axis.out))};
}

int64_t read_groups(const OpContext& context) {
  const int64_t groups = context.attr_int("group", 1);
  if (groups < 1 || groups > kMostAttribute) context.fail("attribute 'group' is {}, expected at least 1", groups);
  return groups;
}

AutoPad read_auto_pad(const OpContext& context) {
  const std::string text = context.attr_string("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::notset;
  if (text == "SAME_UPPER") return AutoPad::same_upper;
  if (text == "SAME_LOWER") return AutoPad::same_lower;
  if (text == "VALID") return AutoPad::valid;
  context.fail("auto_pad is '{}', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", text);
}

std::vector<int64_t> spatial_attr(const OpContext& context, std::string_view name, int64_t rank, int64_t fallback,
                                  int64_t least) {
  std::vector<int64_t> values = context.attr_ints(name, std::vector<int64_t>(static_cast<size_t>(rank), fallback));
  if (static_cast<int64_t>(values.size()) != rank)
    context.fail("attribute '{}' has {} values, expected {}", name, values.size(), rank);
  for (const int64_t value : values)
    if (value < least || value > kMostAttribute)
      context.fail("attribute '{}' has the value {}, expected one in [{}, 2^31)", name, value, least);
  return values;
}

Window read_window(const OpContext& context, std::vector<int64_t> kernel) {
  check_kernel(context, kernel);
  const auto rank = static_cast<int64_t>(kernel.size());
  Window window;
  window.auto_pad = read_auto_pad(context);
  window.kernel = std::move(kernel);
  window.strides = spatial_attr(context, "strides", rank, 1, 1);
  window.dilations = spatial_attr(context, "dilations", rank, 1, 1);
  window.pads = spatial_attr(context, "pads", 2 * rank, 0, 0);
  window.ceil_mode = context.attr_int("ceil_mode", 0) != 0;
  return window;
}

Window read_pool_window(const OpContext& context, int64_t rank) {
  std::vector<int64_t> kernel = context.attr_ints("kernel_shape");
  if (static_cast<int64_t>(kernel.size()) != rank)
    context.fail("attribute 'kernel_shape' has {} values for an input with {} spatial axes", kernel.size(), rank);
  return read_window(context, std::move(kernel));
}

Shape window_output(const OpContext& context, const Window& window, std::span<const Dim> spatial) {
  Shape result;
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i].is_known())
      result.emplace_back(window_axis(context, window, i, spatial[i].value()).out);
    else
      result.push_back(symbolic_out(window, i, spatial[i]));
  }
  return result;
}

std::vector<WindowAxis> window_axes(const OpContext& context, const Window& window, std::span<const int64_t> spatial) {
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < spatial.size(); ++i) axes.push_back(window_axis(context, window, i, spatial[i]));
  return axes;
}

std::optional<Shape> conv_output_shape(const OpContext& context, const std::optional<Shape>& src,
                                       const std::optional<Shape>& weights) {
  if (src && src->size() < 2) context.fail("input has rank {}, expected (N, C, spatial…)", src->size());
  if (weights && weights->size() < 2)
    context.fail("weights have rank {}, expected (M, C/group, kernel…)", weights->size());
  if (src && weights && src->size() != weights->size())
    context.fail("input has rank {}, weights have rank {}", src->size(), weights->size());
  const int64_t groups = read_groups(context);
  if (!src) {
    if (!weights) return std::nullopt;
    Shape result(weights->size());  // the rank and the channels are known
    result[1] = (*weights)[0];
    return result;
  }
  const size_t rank = src->size() - 2;
  Shape result{(*src)[0], weights ? (*weights)[0] : Dim::unknown()};
  std::optional<Dims> kernel;
  if (weights) {
    const Dim &channels = (*src)[1], &out_channels = (*weights)[0], &per_group = (*weights)[1];
    if (channels.is_known() && out_channels.is_known() && per_group.is_known())
      check_channels(context, channels.value(), out_channels.value(), per_group.value(), groups);
    kernel = concrete(Shape(weights->begin() + 2, weights->end()));
  }
  if (context.has_attr("kernel_shape")) {
    const auto& stated = context.attr_ints("kernel_shape");
    if (stated.size() != rank) context.fail("attribute 'kernel_shape' has {} values, expected {}", stated.size(), rank);
    if (kernel && *kernel != stated)
      context.fail("attribute 'kernel_shape' is {}, but the weights have {}", to_text(stated), to_text(*kernel));
    kernel = stated;
  }
  if (!kernel) {
    result.resize(rank + 2);
    return result;
  }
  const Window window = read_window(context, *kernel);
  for (Dim& dim : window_output(context, window, std::span(*src).subspan(2))) result.push_back(std::move(dim));
  return result;
}

int64_t ConvGeometry::in_size() const { return product(axes, &WindowAxis::in); }
int64_t ConvGeometry::out_size() const { return product(axes, &WindowAxis::out); }
int64_t ConvGeometry::kernel_size() const { return product(axes, &WindowAxis::kernel); }

ConvGeometry conv_geometry(const OpContext& context, std::span<const int64_t> src, std::span<const int64_t> weights) {
  ConvGeometry geometry;
  geometry.batch = src[0];
  geometry.groups = read_groups(context);
  check_channels(context, src[1], weights[0], weights[1], geometry.groups);
  geometry.in_channels = weights[1];
  geometry.out_channels = weights[0] / geometry.groups;
  const Window window = read_window(context, Dims(weights.begin() + 2, weights.end()));
  geometry.axes = window_axes(context, window, src.subspan(2));
  return geometry;
}

}  // namespace attune
