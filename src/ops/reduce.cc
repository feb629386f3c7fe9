// Reductions over axes. ArgMax and ArgMin are in arg_reduce.cc.
#include "ops/arg_reduce.h"
#include "ops/families.h"
#include "ops/reduce_axes.h"
#include "ops/reduce_loop.h"
#include "ops/reduce_steps.h"

#include <iterator>

namespace attune {
namespace {

void infer_plain(InferContext& context) { infer_reduced(context); }

/// For reductions that appear in shape arithmetic: a fully reduced vector of dims folds to one dim.
template <Dim (*kFold)(const Dim&, const Dim&)> void infer_with_content(InferContext& context) {
  const auto reduced = infer_reduced(context);
  auto content = context.content(0);
  if (!reduced || !content || reduced->size() > 1) return;
  if (reduced->empty() || !reduced->front()) {
    context.set_content(0, std::move(*content));
    return;
  }
  if (content->empty()) return;
  Dim folded = content->front();
  for (size_t i = 1; i < content->size(); ++i) folded = kFold(folded, (*content)[i]);
  context.set_content(0, {folded});
}

Dim add(const Dim& a, const Dim& b) { return a + b; }
Dim multiply(const Dim& a, const Dim& b) { return a * b; }
Dim larger(const Dim& a, const Dim& b) {
  if (a == b) return a;
  return a.is_known() && b.is_known() ? Dim(std::max(a.value(), b.value())) : Dim::unknown();
}
Dim smaller(const Dim& a, const Dim& b) {
  if (a == b) return a;
  return a.is_known() && b.is_known() ? Dim(std::min(a.value(), b.value())) : Dim::unknown();
}

template <template <class> class Op, class Types> void run_reduce(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);  // first: it checks that the size can be multiplied out
  const auto plan = plan_reduction(src.dims(), reduced_axes(context, context.ints_from("axes", 1), src.rank()));
  dispatch<Types>(src.dtype(), context, [&]<class T>() { reduce<Op<T>>(plan, src.data<T>(), dst.mutable_data<T>()); });
}

double flops_per_input(const CostContext& context) { return context.input_elements(0); }
double flops_per_input_two(const CostContext& context) { return 2 * context.input_elements(0); }

constexpr OpDef reduction(std::string_view name, void (*infer)(InferContext&), void (*kernel)(KernelContext&),
                          double (*flops)(const CostContext&)) {
  return {.domain = "",
          .name = name,
          .since = 1,
          .inputs = {1, 2},
          .outputs = {1, 1},
          .layout_class = LayoutClass::decides_function,
          .infer = infer,
          .kernel = kernel,
          .flops = flops};
}

}  // namespace

std::span<const OpDef> reduce_ops() {
  using namespace reduce_steps;
  static const OpDef ops[] = {
      reduction("ReduceSum", infer_with_content<add>, run_reduce<Sum, NumericTypes>, flops_per_input),
      reduction("ReduceMean", infer_plain, run_reduce<Mean, NumericTypes>, flops_per_input),
      reduction("ReduceMax", infer_with_content<larger>, run_reduce<Max, PlainTypes>, flops_per_input),
      reduction("ReduceMin", infer_with_content<smaller>, run_reduce<Min, PlainTypes>, flops_per_input),
      reduction("ReduceProd", infer_with_content<multiply>, run_reduce<Prod, NumericTypes>, flops_per_input),
      reduction("ReduceL1", infer_plain, run_reduce<L1, NumericTypes>, flops_per_input_two),
      reduction("ReduceL2", infer_plain, run_reduce<L2, NumericTypes>, flops_per_input_two),
      reduction("ReduceLogSum", infer_plain, run_reduce<LogSum, NumericTypes>, flops_per_input),
      reduction("ReduceLogSumExp", infer_plain, run_reduce<LogSumExp, NumericTypes>, flops_per_input_two),
      reduction("ReduceSumSquare", infer_plain, run_reduce<SumSquare, NumericTypes>, flops_per_input_two),
      {.domain = "",
       .name = "ArgMax",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_arg_reduce,
       .kernel = run_arg_max,
       .flops = flops_per_input},
      {.domain = "",
       .name = "ArgMin",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_arg_reduce,
       .kernel = run_arg_min,
       .flops = flops_per_input},
  };
  return ops;
}

}  // namespace attune
