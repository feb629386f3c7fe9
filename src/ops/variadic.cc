// Max, Min, Mean and Sum over any number of broadcast inputs, and Where.
#include "ops/content_math.h"
#include "ops/convert.h"
#include "ops/dtype_checks.h"
#include "ops/elementwise.h"
#include "ops/families.h"

namespace attune {
namespace {

ValueType infer_joined(InferContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    require_input(context, i);
    require_plain_numeric(context, i);
  }
  const int count = context.input_count();
  ValueType type{shared_dtype(context, 0, count), broadcast_inputs(context, 0, count)};
  context.set_output(0, type.dtype, type.shape);
  return type;
}

void infer_fold(InferContext& context, Dim (*fold)(const Dim&, const Dim&)) {
  const ValueType type = infer_joined(context);
  map_contents(context, context.input_count(), type, [fold](const std::vector<Dim>& x) {
    Dim result = x[0];
    for (size_t i = 1; i < x.size(); ++i) result = fold(result, x[i]);
    return result;
  });
}

void infer_max(InferContext& context) { infer_fold(context, max_content); }
void infer_min(InferContext& context) { infer_fold(context, min_content); }
void infer_average(InferContext& context) {
  require_plain_float(context, 0);
  infer_joined(context);
}

/// Output 0 = the inputs folded from the left with an exact function.
template <class F> void fold_kernel(KernelContext& context, F fn) {
  if (context.input_count() == 1) {
    context.set_output(0, context.input(0));
    return;
  }
  Tensor& dst = context.output(0);
  dispatch<NumericTypes>(dst.dtype(), context, [&]<class T>() {
    map_binary<T, T, T>(context.input(0), context.input(1), dst, fn);
    for (int i = 2; i < context.input_count(); ++i) map_binary<T, T, T>(dst, context.input(i), dst, fn);
  });
}

void max_kernel(KernelContext& context) {  // a NaN on either side wins
  fold_kernel(context, [](auto a, auto b) { return a < b || b != b ? b : a; });
}

void min_kernel(KernelContext& context) {
  fold_kernel(context, [](auto a, auto b) { return b < a || b != b ? b : a; });
}

/// Output 0 = scale * (sum of the inputs), summed in double when there are more than two.
void scaled_sum(KernelContext& context, double scale) {
  Tensor& dst = context.output(0);
  const int count = context.input_count();
  if (count == 2) {
    dispatch<FloatTypes>(dst.dtype(), context, [&]<class T>() {
      map_binary<T, T, T>(context.input(0), context.input(1), dst,
                          [scale]<class C>(C a, C b) { return (a + b) * static_cast<C>(scale); });
    });
    return;
  }
  Tensor sum = Tensor::zeros(DType::f64, dst.dims());
  dispatch<FloatTypes>(dst.dtype(), context, [&]<class T>() {
    for (int i = 0; i < count; ++i)
      map_binary<double, T, double>(sum, context.input(i), sum,
                                    [](double total, auto x) { return total + static_cast<double>(x); });
    map_range(sum.data<double>(), dst.mutable_data<T>(), dst.count(),
              [scale](double total) { return static_cast<compute_t<T>>(total * scale); });
  });
}

void sum_kernel(KernelContext& context) {
  if (context.input_count() == 1)
    context.set_output(0, context.input(0));
  else
    scaled_sum(context, 1.0);
}

void mean_kernel(KernelContext& context) {
  if (context.input_count() == 1)
    context.set_output(0, context.input(0));
  else
    scaled_sum(context, 1.0 / context.input_count());
}

void infer_where(InferContext& context) {
  require_bool(context, 0);
  ValueType type{shared_dtype(context, 1, 3), broadcast_inputs(context, 0, 3)};
  context.set_output(0, type.dtype, type.shape);
  map_contents(context, 3, type, [](const std::vector<Dim>& x) {
    if (x[0].is_known()) return x[0].value() != 0 ? x[1] : x[2];
    return x[1] == x[2] ? x[1] : Dim::unknown();
  });
}

void where_kernel(KernelContext& context) {
  const Tensor& condition = context.input(0);
  const Tensor& yes = context.input(1);
  const Tensor& no = context.input(2);
  Tensor& dst = context.output(0);
  const auto rows = broadcast_rows<3>(dst.dims(), {condition.dims(), yes.dims(), no.dims()});
  const int64_t c_step = rows.row_strides[0], y_step = rows.row_strides[1], n_step = rows.row_strides[2];
  dispatch_by_size(dst.dtype(), context, [&]<class U>() {
    const uint8_t* c = condition.data<uint8_t>();
    const U* y = reinterpret_cast<const U*>(yes.bytes());
    const U* n = reinterpret_cast<const U*>(no.bytes());
    U* out = reinterpret_cast<U*>(dst.mutable_bytes());
    for_each_row(rows, [=](int64_t position, int64_t length, const std::array<int64_t, 3>& offsets) {
      const uint8_t* c_row = c + offsets[0];
      const U* y_row = y + offsets[1];
      const U* n_row = n + offsets[2];
      U* z = out + position;
      for (int64_t i = 0; i < length; ++i) z[i] = c_row[i * c_step] != 0 ? y_row[i * y_step] : n_row[i * n_step];
    });
  });
}

double fold_flops(const CostContext& context) {
  return context.output_elements(0) * std::max(1, context.input_count() - 1);
}

OpDef variadic_op(std::string_view name, void (*infer)(InferContext&), void (*kernel)(KernelContext&)) {
  return {.domain = "",
          .name = name,
          .since = 1,
          .inputs = {1, kVariadic},
          .outputs = {1, 1},
          .layout_class = LayoutClass::irrelevant,
          .infer = infer,
          .kernel = kernel,
          .flops = fold_flops};
}

}  // namespace

std::span<const OpDef> variadic_ops() {
  static const OpDef ops[] = {
      variadic_op("Max", infer_max, max_kernel),
      variadic_op("Mean", infer_average, mean_kernel),
      variadic_op("Min", infer_min, min_kernel),
      variadic_op("Sum", infer_average, sum_kernel),
      {.domain = "",
       .name = "Where",
       .since = 9,
       .inputs = {3, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::irrelevant,
       .infer = infer_where,
       .kernel = where_kernel,
       .flops = elementwise_flops},
  };
  return ops;
}

}  // namespace attune
