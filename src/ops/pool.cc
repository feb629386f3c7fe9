// Pooling: MaxPool, AveragePool, LpPool, their global forms and MaxUnpool.
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/pool_max.h"
#include "ops/pool_window.h"
#include "ops/wide_tensor.h"

#include <cmath>
#include <limits>

namespace attune {
namespace {

using ComputeTypes = TypeList<float, double>;

void check_spatial(const OpContext& context, const Shape& src) {
  if (src.size() < 2) context.fail("input has rank {}, expected (N, C, spatial…)", src.size());
}

void infer_pool(InferContext& context) {
  const auto& src = context.shape(0);
  std::optional<Shape> result;
  if (src) {
    check_spatial(context, *src);
    const Window window = read_pool_window(context, std::ssize(*src) - 2);
    result = Shape{(*src)[0], (*src)[1]};
    for (Dim& dim : window_output(context, window, std::span(*src).subspan(2))) result->push_back(std::move(dim));
  }
  context.set_output(0, context.dtype(0), result);
  context.set_output(1, DType::i64, result);
}

double pool_flops(const CostContext& context) {
  double taps = 1;
  for (const int64_t size : context.attr_ints("kernel_shape", {})) taps *= static_cast<double>(size);
  return context.output_elements(0) * taps;
}

/// For each output of an axis: how many taps count, by the rule of AveragePool.
std::vector<int64_t> counted_taps(const WindowAxis& axis, bool include_pad) {
  std::vector<int64_t> counts;
  for (int64_t o = 0; o < axis.out; ++o) {
    const int64_t start = axis.start(o);
    if (!include_pad) {
      const TapRange taps = taps_inside(axis, start);
      counts.push_back(taps.end - taps.begin);
      continue;
    }
    // What reaches beyond the padding at the end (ceil_mode) does not count.
    const int64_t room = axis.in + axis.pad_end - start;
    counts.push_back(room <= 0 ? 0 : std::min(axis.kernel, (room - 1) / axis.dilation + 1));
  }
  return counts;
}

template <class T> void average_pool(const PoolPlan& plan, bool include_pad, const T* src, T* dst) {
  const int64_t width = plan.axes.back().out, stride = plan.axes.back().stride;
  std::vector<std::vector<int64_t>> counts;
  for (const WindowAxis& axis : plan.axes) counts.push_back(counted_taps(axis, include_pad));
  for_each_pool_row<double>(plan, [&](int64_t row, int64_t plane, TapRows& rows, StridedWalk<0>& taps, double* sums) {
    std::fill_n(sums, width, 0.0);
    visit_row(plan, rows, taps, src + plane * plan.in_size, [&](int64_t begin, int64_t end, const T* in, int64_t) {
      for (int64_t x = begin; x < end; ++x) sums[x] += static_cast<double>(in[x * stride]);
    });
    double outer = 1;
    for (int64_t axis = std::ssize(plan.axes) - 1, at = row % plan.rows; axis-- > 0;) {
      const auto i = static_cast<size_t>(axis);
      outer *= static_cast<double>(counts[i][static_cast<size_t>(at % plan.axes[i].out)]);
      at /= plan.axes[i].out;
    }
    for (int64_t x = 0; x < width; ++x) {
      const double count = outer * static_cast<double>(counts.back()[static_cast<size_t>(x)]);
      dst[row * width + x] = static_cast<T>(count > 0 ? sums[x] / count : 0.0);  // 0: a window of padding only
    }
  });
}

/// |x|^p summed and its p-th root, for the usual exponents without pow.
struct Norm {
  int64_t p;

  double term(double value) const {
    if (p == 1) return std::fabs(value);
    if (p == 2) return value * value;
    return std::pow(std::fabs(value), static_cast<double>(p));
  }
  double root(double sum) const {
    if (p == 1) return sum;
    if (p == 2) return std::sqrt(sum);
    return std::pow(sum, 1.0 / static_cast<double>(p));
  }
};

Norm read_norm(const OpContext& context) {
  const int64_t p = context.attr_int("p", 2);
  if (p < 1) context.fail("attribute 'p' is {}, expected at least 1", p);
  return {p};
}

template <class T> void lp_pool(const PoolPlan& plan, Norm norm, const T* src, T* dst) {
  const int64_t width = plan.axes.back().out, stride = plan.axes.back().stride;
  for_each_pool_row<double>(plan, [&](int64_t row, int64_t plane, TapRows& rows, StridedWalk<0>& taps, double* sums) {
    std::fill_n(sums, width, 0.0);
    visit_row(plan, rows, taps, src + plane * plan.in_size, [&](int64_t begin, int64_t end, const T* in, int64_t) {
      for (int64_t x = begin; x < end; ++x) sums[x] += norm.term(static_cast<double>(in[x * stride]));
    });
    for (int64_t x = 0; x < width; ++x) dst[row * width + x] = static_cast<T>(norm.root(sums[x]));
  });
}

/// Runs compute<T>(plan, src, dst) on float or double data.
template <class Compute> void run_windows(KernelContext& context, Compute&& compute) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0));
  Tensor dst = wide_output(output);
  const PoolPlan plan = plan_pool(context, src.dims());
  dispatch<ComputeTypes>(dst.dtype(), context, [&]<class T>() {
    compute.template operator()<T>(plan, src.data<T>(), dst.mutable_data<T>());
  });
  narrow(dst, output);
}

void run_average_pool(KernelContext& context) {
  const bool include_pad = context.attr_int("count_include_pad", 0) != 0;
  run_windows(context, [&]<class T>(const PoolPlan& plan, const T* src, T* dst) {
    average_pool<T>(plan, include_pad, src, dst);
  });
}

void run_lp_pool(KernelContext& context) {
  const Norm norm = read_norm(context);
  run_windows(context, [&]<class T>(const PoolPlan& plan, const T* src, T* dst) { lp_pool<T>(plan, norm, src, dst); });
}

void infer_lp_pool(InferContext& context) {
  read_norm(context);
  infer_pool(context);
}

void infer_global_pool(InferContext& context) {
  const auto& src = context.shape(0);
  std::optional<Shape> result;
  if (src) {
    check_spatial(context, *src);
    result = Shape(src->size(), Dim(1));
    (*result)[0] = (*src)[0];
    (*result)[1] = (*src)[1];
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

void infer_global_lp_pool(InferContext& context) {
  read_norm(context);
  infer_global_pool(context);
}

/// Reduces every plane with reduce<T>(values, count).
template <class Reduce> void run_global(KernelContext& context, Reduce&& reduce) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0));
  Tensor dst = wide_output(output);
  const int64_t planes = dst.count(), size = src.count() / planes;
  dispatch<ComputeTypes>(dst.dtype(), context, [&]<class T>() {
    const T* in = src.data<T>();
    T* out = dst.mutable_data<T>();
    parallel_for(planes, std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, size)), [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane)
        out[plane] = static_cast<T>(reduce.template operator()<T>(in + plane * size, size));
    });
  });
  narrow(dst, output);
}

void run_global_average_pool(KernelContext& context) {
  run_global(context, []<class T>(const T* values, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(values[i]);
    return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
  });
}

void run_global_max_pool(KernelContext& context) {
  run_global(context, []<class T>(const T* values, int64_t count) {
    T best = -std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < count; ++i)
      if (values[i] > best || std::isnan(values[i])) best = values[i];
    return best;
  });
}

void run_global_lp_pool(KernelContext& context) {
  const Norm norm = read_norm(context);
  run_global(context, [&]<class T>(const T* values, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += norm.term(static_cast<double>(values[i]));
    return norm.root(sum);
  });
}

double global_pool_flops(const CostContext& context) { return context.input_elements(0); }

OpDef pool_op(std::string_view name, int outputs, void (*infer)(InferContext&), void (*kernel)(KernelContext&),
              double (*flops)(const CostContext&)) {
  return {.domain = "",
          .name = name,
          .since = 1,
          .inputs = {1, 1},
          .outputs = {1, outputs},
          .layout_class = LayoutClass::decides_speed,
          .infer = infer,
          .kernel = kernel,
          .flops = flops};
}

const OpDef kOps[] = {
    pool_op("MaxPool", 2, infer_pool, run_max_pool, pool_flops),
    pool_op("AveragePool", 1, infer_pool, run_average_pool, pool_flops),
    pool_op("LpPool", 1, infer_lp_pool, run_lp_pool, pool_flops),
    pool_op("GlobalMaxPool", 1, infer_global_pool, run_global_max_pool, global_pool_flops),
    pool_op("GlobalAveragePool", 1, infer_global_pool, run_global_average_pool, global_pool_flops),
    pool_op("GlobalLpPool", 1, infer_global_lp_pool, run_global_lp_pool, global_pool_flops),
    {.domain = "",
     .name = "MaxUnpool",
     .since = 9,
     .inputs = {2, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_max_unpool,
     .kernel = run_max_unpool},
};

}  // namespace

std::span<const OpDef> pool_ops() { return kOps; }

}  // namespace attune
