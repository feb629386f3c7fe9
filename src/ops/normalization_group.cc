// InstanceNormalization and GroupNormalization: statistics over the positions of one channel or of a group of channels
// of one sample.
#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/normalization_parts.h"
#include "ops/row_statistics.h"

#include <cmath>

namespace attune {
namespace {

/// Scale and bias are given for every channel.
template <class T> void normalize_groups(const T* src, T* dst, const AxisSplit& split, int64_t groups, double epsilon,
                                         const std::vector<compute_t<T>>& scale,
                                         const std::vector<compute_t<T>>& bias) {
  using C = compute_t<T>;
  const int64_t channels = split.length / groups;
  const int64_t size = channels * split.inner;
  parallel_for(split.outer * groups, std::max<int64_t>(1, kNormGrain / size), [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const T* group = src + g * size;
      const double mean = run_sum(group, size) / static_cast<double>(size);
      const double variance = run_sum_of_squares(group, size, mean) / static_cast<double>(size);
      const double inverse = 1.0 / std::sqrt(variance + epsilon);
      for (int64_t c = 0; c < channels; ++c) {
        const auto channel = static_cast<size_t>(g % groups * channels + c);
        const C center = static_cast<C>(mean);
        const C factor = static_cast<C>(inverse * static_cast<double>(scale[channel]));
        const C offset = bias[channel];
        const int64_t start = g * size + c * split.inner;
        for (int64_t i = start; i < start + split.inner; ++i)
          dst[i] = static_cast<T>((static_cast<C>(src[i]) - center) * factor + offset);
      }
    }
  });
}

/// Repeats each value of a group for its channels.
template <class C> std::vector<C> for_channels(const std::vector<C>& values, int64_t channels) {
  const auto repeat = static_cast<size_t>(channels) / values.size();
  std::vector<C> out;
  for (const C value : values) out.insert(out.end(), repeat, value);
  return out;
}

void run(KernelContext& context, int64_t groups, int64_t parameter_count) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  require_vector(context, 1, parameter_count);
  require_vector(context, 2, parameter_count);
  if (src.count() == 0) return;
  const AxisSplit split = split_axis(src.dims(), 1);
  const double epsilon = static_cast<double>(context.attr_float("epsilon", 1e-5f));
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    using C = compute_t<T>;
    normalize_groups<T>(src.data<T>(), dst.mutable_data<T>(), split, groups, epsilon,
                        for_channels(values_as<C>(context.input(1)), split.length),
                        for_channels(values_as<C>(context.input(2)), split.length));
  });
}

}  // namespace

void infer_instance_normalization(InferContext& context) { infer_like_input(context, 2); }

void run_instance_normalization(KernelContext& context) {
  const int64_t channels = context.input(0).dim(1);
  run(context, channels, channels);
}

void infer_group_normalization(InferContext& context) {
  infer_like_input(context, 2);
  const int64_t groups = context.attr_int("num_groups");
  if (groups < 1) context.fail("num_groups is {}, expected at least 1", groups);
  const auto& shape = context.shape(0);
  if (shape && (*shape)[1].is_known() && (*shape)[1].value() % groups != 0)
    context.fail("{} channels do not divide into {} groups", (*shape)[1].value(), groups);
}

void run_group_normalization(KernelContext& context) {
  const int64_t groups = context.attr_int("num_groups");
  run(context, groups, context.version() < 21 ? groups : context.input(0).dim(1));
}

}  // namespace attune
