#include "ops/pool_window.h"

namespace attune {
namespace {

/// The same reads with fewer taps: those before the first and after the last that any output uses inside the input.
WindowAxis without_idle_taps(const WindowAxis& axis) {
  WindowAxis result = axis;
  if (axis.in == 0 || axis.out == 0) {
    result.kernel = 0;
    return result;
  }
  const int64_t reach = axis.pad_begin - (axis.out - 1) * axis.stride;  // distance of the last output to the input
  const int64_t first = reach <= 0 ? 0 : (reach + axis.dilation - 1) / axis.dilation;
  const int64_t last = std::min(axis.kernel, (axis.in - 1 + axis.pad_begin) / axis.dilation + 1);
  result.kernel = std::max<int64_t>(0, last - first);
  result.pad_begin = axis.pad_begin - first * axis.dilation;
  return result;
}

}  // namespace

int64_t PoolPlan::row_work() const {
  int64_t work = std::max<int64_t>(1, axes.back().out);
  for (const WindowAxis& axis : reading) work *= std::clamp<int64_t>(axis.kernel, 1, 1 << 10);
  return std::min<int64_t>(work, 1 << 14);
}

PoolPlan plan_pool(const OpContext& context, const Dims& src) {
  PoolPlan plan;
  const auto spatial = std::span(src).subspan(2);
  plan.axes = window_axes(context, read_pool_window(context, std::ssize(spatial)), spatial);
  if (plan.axes.empty()) plan.axes.push_back({.in = 1, .out = 1});
  plan.planes = src[0] * src[1];
  const ConvGeometry sizes{.axes = plan.axes};
  plan.in_size = sizes.in_size();
  plan.out_size = sizes.out_size();
  plan.rows = plan.axes.back().out == 0 ? 0 : plan.out_size / plan.axes.back().out;
  for (const WindowAxis& axis : plan.axes) plan.reading.push_back(without_idle_taps(axis));
  for (size_t i = 0; i + 1 < plan.reading.size(); ++i) plan.outer_taps.push_back(plan.reading[i].kernel);
  for (int64_t tap = 0; tap < plan.reading.back().kernel; ++tap)
    plan.last_ranges.push_back(outs_inside(plan.reading.back(), tap));
  return plan;
}

}  // namespace attune
