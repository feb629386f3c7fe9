// FlexAttention: attention whose scores and probabilities pass through subgraphs of the model.
#include "base/parallel.h"
#include "ops/attention.h"
#include "ops/empty_outputs.h"
#include "ops/gemm.h"
#include "ops/widen.h"

#include <cmath>

namespace attune::attention {
namespace {

enum Input { kQuery, kKey, kValue };

/// The element type that the subgraphs see.
DType precision_of(const OpContext& context, DType input) {
  switch (context.attr_int("softmax_precision", 0)) {
    case 0: return input == DType::f64 ? DType::f64 : DType::f32;
    case 1: return DType::f32;
    case 10: return DType::f16;
    case 11: return DType::f64;
    case 16: return DType::bf16;
    default: context.fail("softmax_precision {} is not a float type", context.attr_int("softmax_precision"));
  }
}

Shape rank_4(const InferContext& context, int i) {
  const auto& shape = context.shape(i);
  if (!shape) return Shape(4);
  if (shape->size() != 4) context.fail("input {} has rank {}, expected 4", i, shape->size());
  return *shape;
}

}  // namespace

void infer_flex_attention(InferContext& context) {
  const Shape q = rank_4(context, kQuery), k = rank_4(context, kKey), v = rank_4(context, kValue);
  expect_equal(q[0], k[0], context, "batches of Q and K");
  expect_equal(q[0], v[0], context, "batches of Q and V");
  expect_equal(k[1], v[1], context, "heads of K and V");
  expect_equal(k[2], v[2], context, "sequence lengths of K and V");
  expect_equal(q[3], k[3], context, "head sizes of Q and K");
  if (q[1].is_known() && k[1].is_known()) check_heads(q[1].value(), k[1].value(), context);
  const ValueType scores{precision_of(context, context.dtype(kQuery)), Shape{q[0], q[1], q[2], k[2]}};
  for (const std::string_view name : {"score_mod", "prob_mod"}) {
    if (!context.has_attr(name)) continue;
    const Graph& graph = context.attr_graph(name);
    if (graph.inputs.size() != 1 || graph.outputs.size() != 1)
      context.fail("{} has {} inputs and {} outputs, expected one each", name, graph.inputs.size(),
                   graph.outputs.size());
    context.infer_subgraph(graph, std::span(&scores, 1));
  }
  context.set_output(0, context.dtype(kQuery), Shape{q[0], q[1], q[2], v[3]});
}

namespace {

/// The subgraph of that name applied to `values`; unchanged without one.
Tensor modified(KernelContext& context, std::string_view name, Tensor values) {
  if (!context.has_attr(name)) return values;
  std::vector<Tensor> results = context.run_subgraph(context.attr_graph(name), std::span(&values, 1));
  if (results.size() != 1 || results[0].dims() != values.dims())
    context.fail("{} must give one tensor of {}", name, to_text(values.dims()));
  return std::move(results[0]);
}

template <class C> void run_typed(KernelContext& context, DType precision) {
  const Tensor q = widened<C>(context.input(kQuery), context), k = widened<C>(context.input(kKey), context);
  const Tensor v = widened<C>(context.input(kValue), context);
  const int64_t heads = q.dim(1), q_len = q.dim(2), kv_len = k.dim(2), size = q.dim(3), v_size = v.dim(3);
  const int64_t group = heads / k.dim(1);
  const auto scale = static_cast<C>(context.has_attr("scale") ? static_cast<double>(context.attr_float("scale"))
                                                              : 1 / std::sqrt(static_cast<double>(size)));
  const auto k_view = heads_first(k.data<C>(), k.dim(1), kv_len, size);
  const auto v_view = heads_first(v.data<C>(), k.dim(1), kv_len, v_size);
  const int64_t items = q.dim(0) * heads;

  Tensor scores = Tensor::allocate(dtype_of<C>(), {q.dim(0), heads, q_len, kv_len});
  C* dst = scores.mutable_data<C>();
  parallel_for(items, 1, [&](int64_t first, int64_t last) {
    for (int64_t item = first; item < last; ++item) {
      gemm(q_len, kv_len, size, MatrixView<C>{q.data<C>() + item * q_len * size, size, 1},
           MatrixView<C>{k_view.row(item / heads, item % heads / group, 0), 1, size}, dst + item * q_len * kv_len,
           kv_len);
      for (int64_t i = 0; i < q_len * kv_len; ++i) dst[item * q_len * kv_len + i] *= scale;
    }
  });

  scores = widened<C>(modified(context, "score_mod", convert(scores, precision)), context).clone();
  C* rows = scores.mutable_data<C>();
  for (int64_t i = 0; i < items * q_len; ++i) softmax_row(rows + i * kv_len, kv_len);
  const Tensor probabilities = widened<C>(modified(context, "prob_mod", convert(scores, precision)), context);

  RoundedOutput<C> y(context.output(0));
  C* out = y.data();
  parallel_for(items, 1, [&](int64_t first, int64_t last) {
    for (int64_t item = first; item < last; ++item)
      gemm(q_len, v_size, kv_len, MatrixView<C>{probabilities.data<C>() + item * q_len * kv_len, kv_len, 1},
           MatrixView<C>{v_view.row(item / heads, item % heads / group, 0), v_size, 1}, out + item * q_len * v_size,
           v_size);
  });
  y.store();
}

}  // namespace

void run_flex_attention(KernelContext& context) {
  if (all_outputs_empty(context)) return;
  const DType precision = precision_of(context, context.input(kQuery).dtype());
  const bool wide = precision == DType::f64 || context.input(kQuery).dtype() == DType::f64;
  dispatch_compute(wide ? DType::f64 : DType::f32, context, [&]<class C>() { run_typed<C>(context, precision); });
}

}  // namespace attune::attention
