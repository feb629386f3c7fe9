#include "ops/binary_compare.h"

#include "ops/content_math.h"
#include "ops/dtype_checks.h"
#include "ops/elementwise.h"

namespace attune {
namespace {

ValueType infer_comparison(InferContext& context) {
  shared_dtype(context, 0, 2);
  ValueType type{DType::boolean, broadcast_inputs(context, 0, 2)};
  context.set_output(0, type.dtype, type.shape);
  return type;
}

ValueType infer_ordering(InferContext& context) {
  require_plain_numeric(context, 0);
  return infer_comparison(context);
}

template <class F> void comparison_kernel(KernelContext& context, F fn) {
  dispatch<NumericTypes>(context.input(0).dtype(), context, [&]<class T>() {
    map_binary<T, T, uint8_t>(context.input(0), context.input(1), context.output(0), fn);
  });
}

Dim negated(const Dim& truth) { return Dim(1) - truth; }

}  // namespace

void infer_equal(InferContext& context) {
  if (context.dtype(0) != DType::boolean) require_plain_numeric(context, 0);
  const ValueType type = infer_comparison(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return equal_content(x[0], x[1]); });
}
void infer_greater(InferContext& context) {
  const ValueType type = infer_ordering(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return less_content(x[1], x[0]); });
}
void infer_greater_or_equal(InferContext& context) {
  const ValueType type = infer_ordering(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return negated(less_content(x[0], x[1])); });
}
void infer_less(InferContext& context) {
  const ValueType type = infer_ordering(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return less_content(x[0], x[1]); });
}
void infer_less_or_equal(InferContext& context) {
  const ValueType type = infer_ordering(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return negated(less_content(x[1], x[0])); });
}

void equal_kernel(KernelContext& context) {
  if (context.input(0).dtype() == DType::boolean) {
    map_binary<uint8_t, uint8_t, uint8_t>(context.input(0), context.input(1), context.output(0),
                                          [](uint8_t a, uint8_t b) { return (a != 0) == (b != 0); });
    return;
  }
  comparison_kernel(context, [](auto a, auto b) { return a == b; });
}
void greater_kernel(KernelContext& context) {
  comparison_kernel(context, [](auto a, auto b) { return a > b; });
}
void greater_or_equal_kernel(KernelContext& context) {
  comparison_kernel(context, [](auto a, auto b) { return a >= b; });
}
void less_kernel(KernelContext& context) {
  comparison_kernel(context, [](auto a, auto b) { return a < b; });
}
void less_or_equal_kernel(KernelContext& context) {
  comparison_kernel(context, [](auto a, auto b) { return a <= b; });
}

}  // namespace attune
