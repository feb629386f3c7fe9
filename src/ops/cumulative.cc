// Running sums and products along an axis: CumSum, CumProd.
#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/infer_parts.h"

#include <algorithm>

namespace attune {
namespace {

/// Floats accumulate in double, integers wrap.
template <class T> using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

struct Direction {
  bool exclusive, reverse;
};

/// One [length][inner] block: all `inner` lanes advance together, so the inner loop runs over adjacent elements.
template <class T, class Combine> void accumulate_block(const T* src, T* dst, const AxisSplit& split,
                                                        Direction direction, Accumulator<T> identity, Combine combine) {
  std::vector<Accumulator<T>> totals(static_cast<size_t>(split.inner), identity);
  for (int64_t step = 0; step < split.length; ++step) {
    const int64_t row = (direction.reverse ? split.length - 1 - step : step) * split.inner;
    for (int64_t lane = 0; lane < split.inner; ++lane) {
      const Accumulator<T> before = totals[lane];
      const auto value = static_cast<Accumulator<T>>(static_cast<compute_t<T>>(src[row + lane]));
      totals[lane] = combine(before, value);
      dst[row + lane] = static_cast<T>(static_cast<compute_t<T>>(direction.exclusive ? before : totals[lane]));
    }
  }
}

void infer_cumulative(InferContext& context) {
  context.copy_type(0, 0);
  const Dim axis = int_scalar(context, 1);
  if (const std::optional<Shape>& shape = context.shape(0); shape && axis.is_known())
    context.axis_in_range(axis.value(), static_cast<int64_t>(shape->size()));
}

template <class Combine> void run_cumulative(KernelContext& context, int identity, Combine combine) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const Direction direction{context.attr_int("exclusive", 0) != 0, context.attr_int("reverse", 0) != 0};
  const AxisSplit split = split_axis(src.dims(), context.axis_in_range(context.ints(1).at(0), src.rank()));
  const int64_t block = split.length * split.inner;
  dispatch<NumericTypes>(src.dtype(), context, [&]<class T>() {
    const T* from = src.data<T>();
    T* to = dst.mutable_data<T>();
    parallel_for(split.outer, std::max<int64_t>(1, 16384 / block), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        accumulate_block(from + i * block, to + i * block, split, direction, static_cast<Accumulator<T>>(identity),
                         combine);
    });
  });
}

void run_cumsum(KernelContext& context) {
  run_cumulative(context, 0, [](auto total, auto value) { return total + value; });
}

void run_cumprod(KernelContext& context) {
  run_cumulative(context, 1, [](auto total, auto value) { return total * value; });
}

}  // namespace

std::span<const OpDef> cumulative_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "CumSum",
       .since = 11,
       .inputs = {2, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_cumulative,
       .kernel = run_cumsum,
       .flops = elementwise_flops},
      {.domain = "",
       .name = "CumProd",
       .since = 26,
       .inputs = {2, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_cumulative,
       .kernel = run_cumprod,
       .flops = elementwise_flops},
  };
  return ops;
}

}  // namespace attune
