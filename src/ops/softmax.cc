// Softmax, LogSoftmax and Hardmax. Before opset 13 everything from the axis on is one row; since then only the axis is.
#include "ops/families.h"
#include "ops/softmax_rows.h"

namespace attune {
namespace {

bool is_coerced(const OpContext& context) { return context.version() < 13; }

int64_t axis_of(const OpContext& context, int64_t rank) {
  const int64_t axis = context.attr_int("axis", is_coerced(context) ? 1 : -1);
  if (is_coerced(context) && axis == rank) return axis;  // rows of one element
  return context.axis_in_range(axis, rank);
}

AxisSplit split_of(const OpContext& context, const Tensor& src) {
  const int64_t axis = axis_of(context, src.rank());
  return is_coerced(context) ? split_axes(src.dims(), axis, src.rank()) : split_axis(src.dims(), axis);
}

void infer(InferContext& context) {
  if (context.shape(0)) axis_of(context, static_cast<int64_t>(context.shape(0)->size()));
  context.copy_type(0, 0);
}

template <SoftmaxKind kKind> void run_softmax(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const AxisSplit split = split_of(context, src);
  dispatch<FloatTypes>(src.dtype(), context,
                       [&]<class T>() { softmax<kKind>(src.data<T>(), dst.mutable_data<T>(), split); });
}

/// 1 at the first of the largest elements, 0 elsewhere.
template <class T> void hardmax(const T* src, T* dst, const AxisSplit& split) {
  using C = compute_t<T>;
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / split.length);
  parallel_for(split.outer * split.inner, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i / split.inner * split.length * split.inner + i % split.inner;
      int64_t best = start;
      for (int64_t k = 0; k < split.length; ++k) {
        const int64_t at = start + k * split.inner;
        dst[at] = static_cast<T>(C{0});
        if (static_cast<C>(src[at]) > static_cast<C>(src[best])) best = at;
      }
      dst[best] = static_cast<T>(C{1});
    }
  });
}

void run_hardmax(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (src.count() == 0) return;
  const AxisSplit split = split_of(context, src);
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() { hardmax(src.data<T>(), dst.mutable_data<T>(), split); });
}

double softmax_flops(const CostContext& context) { return 5 * context.output_elements(0); }

}  // namespace

std::span<const OpDef> softmax_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "Softmax",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer,
       .kernel = run_softmax<SoftmaxKind::probability>,
       .flops = softmax_flops},
      {.domain = "",
       .name = "LogSoftmax",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer,
       .kernel = run_softmax<SoftmaxKind::log_probability>,
       .flops = softmax_flops},
      {.domain = "",
       .name = "Hardmax",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer,
       .kernel = run_hardmax,
       .flops = elementwise_flops},
  };
  return ops;
}

}  // namespace attune
