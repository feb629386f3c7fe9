// BatchNormalization: with given statistics (inference) or those of the batch (training).
#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/normalization_parts.h"
#include "ops/row_statistics.h"

#include <cmath>

namespace attune {
namespace {

/// Opset 14 says it with an attribute, before that extra outputs do.
bool is_training(const OpContext& context) {
  if (context.version() >= 14) return context.attr_int("training_mode", 0) != 0;
  for (int i = 1; i < context.output_count(); ++i)
    if (context.wants_output(i)) return true;
  return false;
}

/// [batch][channel][position]; without `spatial` (opset 7 and 8) every element of a sample is a channel of its own.
AxisSplit split_channels(const OpContext& context, const Tensor& src) {
  if (src.rank() < 2) return {src.count(), 1, 1};
  const bool spatial = context.version() >= 9 || context.attr_int("spatial", 1) != 0;
  return spatial ? split_axis(src.dims(), 1) : split_axes(src.dims(), 1, src.rank());
}

struct Statistics {
  std::vector<double> mean, variance;
};

template <class T> Statistics batch_statistics(const T* src, const AxisSplit& split) {
  Statistics result;
  result.mean.resize(static_cast<size_t>(split.length));
  result.variance.resize(static_cast<size_t>(split.length));
  const double count = static_cast<double>(split.outer * split.inner);
  const int64_t grain = std::max<int64_t>(1, kNormGrain / (split.outer * split.inner));
  parallel_for(split.length, grain, [&](int64_t begin, int64_t end) {
    for (int64_t channel = begin; channel < end; ++channel) {
      const auto run = [&](int64_t n) { return src + (n * split.length + channel) * split.inner; };
      double sum = 0, squares = 0;
      for (int64_t n = 0; n < split.outer; ++n) sum += run_sum(run(n), split.inner);
      const double mean = sum / count;
      for (int64_t n = 0; n < split.outer; ++n) squares += run_sum_of_squares(run(n), split.inner, mean);
      result.mean[static_cast<size_t>(channel)] = mean;
      result.variance[static_cast<size_t>(channel)] = squares / count;
    }
  });
  return result;
}

/// dst = (src - mean) * factor + bias for each channel.
template <class C> struct Affine { std::vector<C> mean, factor, bias; };

template <class T> void apply(const T* src, T* dst, const AxisSplit& split, const Affine<compute_t<T>>& affine) {
  using C = compute_t<T>;
  const int64_t rows = split.inner == 1 ? split.outer : split.outer * split.length;
  const int64_t row = split.inner == 1 ? split.length : split.inner;
  parallel_for(rows, std::max<int64_t>(1, kNormGrain / row), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* from = src + r * row;
      T* to = dst + r * row;
      if (split.inner == 1) {  // one element for each channel
        for (int64_t c = 0; c < row; ++c) {
          const auto i = static_cast<size_t>(c);
          to[c] = static_cast<T>((static_cast<C>(from[c]) - affine.mean[i]) * affine.factor[i] + affine.bias[i]);
        }
      } else {
        const auto i = static_cast<size_t>(r % split.length);
        const C mean = affine.mean[i], factor = affine.factor[i], bias = affine.bias[i];
        for (int64_t k = 0; k < row; ++k) to[k] = static_cast<T>((static_cast<C>(from[k]) - mean) * factor + bias);
      }
    }
  });
}

void write_vector(KernelContext& context, int output, const std::vector<double>& values) {
  if (!context.wants_output(output)) return;
  const Dims dims = context.output(output).dims();
  const Tensor doubles = Tensor::from<double>(dims, std::span<const double>(values));
  context.set_output(output, convert(doubles, context.output(output).dtype()));
}

}  // namespace

void infer_batch_normalization(InferContext& context) {
  infer_like_input(context, 1);
  for (int i = 1; i < context.output_count(); ++i) {
    const int like = i % 2 == 1 ? 3 : 4;  // mean, variance, saved mean, saved variance
    context.copy_type(like, i);
  }
}

void run_batch_normalization(KernelContext& context) {
  const Tensor& src = context.input(0);
  const bool empty = src.count() == 0;
  const bool training = is_training(context);
  if (empty && training) context.fail("the batch is empty, so it has no statistics");
  Tensor& dst = context.output(0);
  if (empty) return;
  const AxisSplit split = split_channels(context, src);
  for (int i = 1; i < 5; ++i)
    if (context.input(i).count() != split.length)
      context.fail("input {} is {}, expected {} elements", i, to_text(context.input(i).dims()), split.length);

  const Statistics given{values_as<double>(context.input(3)), values_as<double>(context.input(4))};
  const auto scale = values_as<double>(context.input(1));
  const auto bias = values_as<double>(context.input(2));
  const double epsilon = static_cast<double>(context.attr_float("epsilon", 1e-5f));
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    using C = compute_t<T>;
    const Statistics used = training ? batch_statistics(src.data<T>(), split) : given;
    Affine<C> affine;
    for (size_t c = 0; c < scale.size(); ++c) {
      affine.mean.push_back(static_cast<C>(used.mean[c]));
      affine.factor.push_back(static_cast<C>(scale[c] / std::sqrt(used.variance[c] + epsilon)));
      affine.bias.push_back(static_cast<C>(bias[c]));
    }
    apply(src.data<T>(), dst.mutable_data<T>(), split, affine);

    Statistics running = given;
    const double momentum = training ? static_cast<double>(context.attr_float("momentum", 0.9f)) : 1.0;
    for (size_t c = 0; c < scale.size(); ++c) {
      running.mean[c] = given.mean[c] * momentum + used.mean[c] * (1 - momentum);
      running.variance[c] = given.variance[c] * momentum + used.variance[c] * (1 - momentum);
    }
    write_vector(context, 1, running.mean);
    write_vector(context, 2, running.variance);
    write_vector(context, 3, used.mean);
    write_vector(context, 4, used.variance);
  });
}

}  // namespace attune
