// LayerNormalization and RMSNormalization: statistics over all axes from one on.
#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/broadcast.h"
#include "ops/normalization_parts.h"
#include "ops/row_statistics.h"
#include "ops/strided_walk.h"

#include <cmath>

namespace attune {
namespace {

/// A scale or bias that broadcasts to the input, served row by row.
template <class C> class RowParameter {
 public:
  RowParameter(const Tensor& tensor, const Dims& target, int64_t axis, const OpContext& context)
      : row_dims_(target.begin() + axis, target.end()), outer_dims_(target.begin(), target.begin() + axis) {
    if (tensor.rank() > static_cast<int64_t>(target.size()) || broadcast_dims(tensor.dims(), target, context) != target)
      context.fail("a parameter of {} does not broadcast to the input {}", to_text(tensor.dims()), to_text(target));
    values_ = values_as<C>(tensor);
    const Dims strides = broadcast_strides(tensor.dims(), target);
    row_strides_.assign(strides.begin() + axis, strides.end());
    outer_strides_.assign(strides.begin(), strides.begin() + axis);
    same_for_all_rows_ = true;
    for (const int64_t stride : outer_strides_) same_for_all_rows_ &= stride == 0;
    if (same_for_all_rows_) {
      std::vector<C> row;
      gather(0, row);
      values_ = std::move(row);
    }
  }

  /// The values for one row; they stay valid until the next call with the same scratch.
  const C* row(int64_t index, std::vector<C>& scratch) const {
    if (same_for_all_rows_) return values_.data();
    StridedWalk<1> walk(outer_dims_, {outer_strides_});
    walk.seek(index);
    gather(walk.offset(0), scratch);
    return scratch.data();
  }

 private:
  void gather(int64_t start, std::vector<C>& row) const {
    row.resize(static_cast<size_t>(element_count(row_dims_)));
    StridedWalk<1> walk(row_dims_, {row_strides_});
    for (C& value : row) {
      value = values_[static_cast<size_t>(start + walk.offset(0))];
      walk.next();
    }
  }

  Dims row_dims_, outer_dims_, row_strides_, outer_strides_;
  bool same_for_all_rows_ = false;
  std::vector<C> values_;
};

int64_t axis_of(const OpContext& context, int64_t rank) {
  return context.axis_in_range(context.attr_int("axis", -1), rank);
}

DType stash_type(const OpContext& context) { return dtype_from_onnx(context.attr_int("stash_type", 1), context); }

void infer_axis(InferContext& context) {
  infer_like_input(context, 1);
  if (context.shape(0)) axis_of(context, static_cast<int64_t>(context.shape(0)->size()));
}

template <class C>
const C* optional_row(const std::optional<RowParameter<C>>& parameter, int64_t index, std::vector<C>& scratch) {
  return parameter ? parameter->row(index, scratch) : nullptr;
}

struct LayerStatistics {
  std::vector<double> mean, inverse_deviation;
};

template <class T> LayerStatistics normalize_layers(KernelContext& context, const Tensor& src, Tensor& dst,
                                                    const AxisSplit& split, int64_t axis) {
  using C = compute_t<T>;
  const RowParameter<C> scale(context.input(1), src.dims(), axis, context);
  std::optional<RowParameter<C>> bias;
  if (context.has_input(2)) bias.emplace(context.input(2), src.dims(), axis, context);
  const double epsilon = static_cast<double>(context.attr_float("epsilon", 1e-5f));
  const int64_t length = split.length;
  LayerStatistics statistics;
  statistics.mean.resize(static_cast<size_t>(split.outer));
  statistics.inverse_deviation.resize(static_cast<size_t>(split.outer));
  const T* all_src = src.data<T>();
  T* all_dst = dst.mutable_data<T>();
  parallel_for(split.outer, std::max<int64_t>(1, kNormGrain / length), [&](int64_t begin, int64_t end) {
    std::vector<C> scale_scratch, bias_scratch;
    for (int64_t row = begin; row < end; ++row) {
      const T* from = all_src + row * length;
      T* to = all_dst + row * length;
      const double mean = run_sum(from, length) / static_cast<double>(length);
      const double variance = run_sum_of_squares(from, length, mean) / static_cast<double>(length);
      const double inverse = 1.0 / std::sqrt(variance + epsilon);
      statistics.mean[static_cast<size_t>(row)] = mean;
      statistics.inverse_deviation[static_cast<size_t>(row)] = inverse;
      const C center = static_cast<C>(mean), factor = static_cast<C>(inverse);
      const C* gamma = scale.row(row, scale_scratch);
      if (const C* beta = optional_row(bias, row, bias_scratch)) {
        for (int64_t i = 0; i < length; ++i)
          to[i] = static_cast<T>((static_cast<C>(from[i]) - center) * factor * gamma[i] + beta[i]);
      } else {
        for (int64_t i = 0; i < length; ++i)
          to[i] = static_cast<T>((static_cast<C>(from[i]) - center) * factor * gamma[i]);
      }
    }
  });
  return statistics;
}

void write_statistics(KernelContext& context, int output, const std::vector<double>& values) {
  if (!context.wants_output(output)) return;
  const Tensor doubles = Tensor::from<double>(context.output(output).dims(), std::span<const double>(values));
  context.set_output(output, convert(doubles, stash_type(context)));
}

template <class T, class Out>
void normalize_rms(KernelContext& context, const Tensor& src, Tensor& dst, const AxisSplit& split, int64_t axis) {
  using C = compute_t<T>;
  const RowParameter<C> scale(context.input(1), src.dims(), axis, context);
  const double epsilon = static_cast<double>(context.attr_float("epsilon", 1e-5f));
  const int64_t length = split.length;
  const T* all_src = src.data<T>();
  Out* all_dst = dst.mutable_data<Out>();
  parallel_for(split.outer, std::max<int64_t>(1, kNormGrain / length), [&](int64_t begin, int64_t end) {
    std::vector<C> scratch;
    for (int64_t row = begin; row < end; ++row) {
      const T* from = all_src + row * length;
      Out* to = all_dst + row * length;
      const double mean_square = run_sum_of_squares(from, length, 0.0) / static_cast<double>(length);
      const C factor = static_cast<C>(1.0 / std::sqrt(mean_square + epsilon));
      const C* gamma = scale.row(row, scratch);
      for (int64_t i = 0; i < length; ++i)
        to[i] = static_cast<Out>(static_cast<compute_t<Out>>(static_cast<C>(from[i]) * factor * gamma[i]));
    }
  });
}

}  // namespace

void infer_layer_normalization(InferContext& context) {
  infer_axis(context);
  std::optional<Shape> statistics = context.shape(0);
  if (statistics) {
    const int64_t axis = axis_of(context, static_cast<int64_t>(statistics->size()));
    for (size_t i = static_cast<size_t>(axis); i < statistics->size(); ++i) (*statistics)[i] = 1;
  }
  for (int i = 1; i < context.output_count(); ++i) context.set_output(i, stash_type(context), statistics);
}

void run_layer_normalization(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) {
    for (int i = 1; i < context.output_count(); ++i)
      if (context.wants_output(i) && context.output(i).count() != 0)
        context.fail("the normalized axes of {} are empty, so there are no statistics", to_text(src.dims()));
    return;
  }
  const int64_t axis = axis_of(context, src.rank());
  const AxisSplit split = split_axes(src.dims(), axis, src.rank());
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    const LayerStatistics statistics = normalize_layers<T>(context, src, dst, split, axis);
    write_statistics(context, 1, statistics.mean);
    write_statistics(context, 2, statistics.inverse_deviation);
  });
}

void infer_rms_normalization(InferContext& context) {
  infer_axis(context);
  context.set_output(0, context.dtype(1), context.shape(0));  // the scale decides the type of the result
}

void run_rms_normalization(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const int64_t axis = axis_of(context, src.rank());
  const AxisSplit split = split_axes(src.dims(), axis, src.rank());
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    dispatch<FloatTypes>(dst.dtype(), context,
                         [&]<class Out>() { normalize_rms<T, Out>(context, src, dst, split, axis); });
  });
}

}  // namespace attune
