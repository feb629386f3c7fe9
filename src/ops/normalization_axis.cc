// LpNormalization and MeanVarianceNormalization.
#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/normalization_parts.h"
#include "ops/reduce_axes.h"
#include "ops/reduce_loop.h"
#include "ops/row_statistics.h"

#include <cmath>

namespace attune {
namespace {

int64_t lp_order(const OpContext& context) {
  const int64_t p = context.attr_int("p", 2);
  if (p != 1 && p != 2) context.fail("attribute 'p' is {}, expected 1 or 2", p);
  return p;
}

/// Adds up along rows of memory in blocks of columns, so that any axis is read in order.
template <class T> void normalize_lp(const T* src, T* dst, const AxisSplit& split, int64_t p) {
  using C = compute_t<T>;
  constexpr int64_t kColumns = 512;
  const int64_t block = std::min(split.inner, kColumns);
  const int64_t blocks = (split.inner + block - 1) / block;
  const int64_t grain = std::max<int64_t>(1, kNormGrain / (block * split.length));
  parallel_for(split.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    std::vector<double> norm(static_cast<size_t>(block));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % blocks * block;
      const int64_t columns = std::min(block, split.inner - column);
      const int64_t start = task / blocks * split.length * split.inner + column;
      std::fill(norm.begin(), norm.end(), 0.0);
      for (int64_t row = 0; row < split.length; ++row) {
        const T* from = src + start + row * split.inner;
        for (int64_t c = 0; c < columns; ++c) {
          const double value = as_double(from[c]);
          norm[static_cast<size_t>(c)] += p == 1 ? std::fabs(value) : value * value;
        }
      }
      // A zero norm leaves zeros rather than NaN.
      for (double& value : norm) value = value == 0 ? 0 : 1 / (p == 1 ? value : std::sqrt(value));
      for (int64_t row = 0; row < split.length; ++row) {
        const int64_t at = start + row * split.inner;
        for (int64_t c = 0; c < columns; ++c)
          dst[at + c] = static_cast<T>(static_cast<C>(as_double(src[at + c]) * norm[static_cast<size_t>(c)]));
      }
    }
  });
}

struct Moments {
  double sum = 0;
  double squares = 0;
};

/// What is subtracted and what is multiplied with.
struct Centering {
  double mean = 0;
  double factor = 0;
};

template <class T> struct CenteringStep {
  using Acc = Moments;
  static Acc identity() { return {}; }
  static void step(Acc& acc, T element) {
    const double value = as_double(element);
    acc.sum += value;
    acc.squares += value * value;
  }
  static void merge(Acc& acc, const Acc& other) {
    acc.sum += other.sum;
    acc.squares += other.squares;
  }
  static Centering finish(const Acc& acc, int64_t count) {
    constexpr double kEpsilon = 1e-9;
    const double mean = acc.sum / static_cast<double>(count);
    const double variance = std::max(0.0, acc.squares / static_cast<double>(count) - mean * mean);
    return {mean, 1.0 / (std::sqrt(variance) + kEpsilon)};
  }
};

template <class T> void normalize_mean_variance(const Tensor& src, Tensor& dst, const std::vector<bool>& reduced) {
  using C = compute_t<T>;
  const ReducePlan plan = plan_reduction(src.dims(), reduced);
  std::vector<Centering> centering(static_cast<size_t>(plan.output_count()));
  reduce<CenteringStep<T>>(plan, src.data<T>(), centering.data());

  // Rows along the last axis; the second operand of the walk is the index of a row's statistics.
  const Dims& dims = src.dims();
  const Dims outer_dims(dims.begin(), dims.end() - 1);
  Dims kept = dims;
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (reduced[axis]) kept[axis] = 1;
  Dims strides = row_major_strides(kept);
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (reduced[axis]) strides[axis] = 0;
  const int64_t inner_stride = strides.back();
  const int64_t length = dims.back();
  strides.pop_back();
  const T* all_src = src.data<T>();
  T* all_dst = dst.mutable_data<T>();
  parallel_for(src.count() / length, std::max<int64_t>(1, kNormGrain / length), [&](int64_t begin, int64_t end) {
    StridedWalk<1> walk(outer_dims, {strides});
    walk.seek(begin);
    for (int64_t row = begin; row < end; ++row, walk.next()) {
      const Centering* center = centering.data() + walk.offset(0);
      const T* from = all_src + row * length;
      T* to = all_dst + row * length;
      for (int64_t i = 0; i < length; ++i) {
        const Centering& at = center[i * inner_stride];
        to[i] = static_cast<T>(static_cast<C>((as_double(from[i]) - at.mean) * at.factor));
      }
    }
  });
}

std::vector<bool> mean_variance_axes(const OpContext& context, int64_t rank) {
  return reduced_axes(context, context.attr_ints("axes", {0, 2, 3}), rank);
}

}  // namespace

void infer_lp_normalization(InferContext& context) {
  infer_like_input(context, 1);
  lp_order(context);
  if (context.shape(0))
    context.axis_in_range(context.attr_int("axis", -1), static_cast<int64_t>(context.shape(0)->size()));
}

void run_lp_normalization(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const AxisSplit split = split_axis(src.dims(), context.axis_in_range(context.attr_int("axis", -1), src.rank()));
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    normalize_lp(src.data<T>(), dst.mutable_data<T>(), split, lp_order(context));
  });
}

void infer_mean_variance_normalization(InferContext& context) {
  infer_like_input(context, 1);
  if (context.shape(0)) mean_variance_axes(context, static_cast<int64_t>(context.shape(0)->size()));
}

void run_mean_variance_normalization(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const auto reduced = mean_variance_axes(context, src.rank());
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() { normalize_mean_variance<T>(src, dst, reduced); });
}

}  // namespace attune
