// Attention of com.microsoft: projects its input to queries, keys and values by one weight matrix, then attends.
#include "base/parallel.h"
#include "ops/contrib_transformer.h"
#include "ops/empty_outputs.h"
#include "ops/gemm.h"
#include "ops/widen.h"

namespace attune::contrib {
namespace {

enum Input { kSrc, kWeights, kBias, kMask, kPast, kAttentionBias, kPastLength };

struct Widths {
  int64_t q = 0, k = 0, v = 0;
  int64_t total() const { return q + k + v; }
};

Widths widths_of(const OpContext& context, int64_t total) {
  const std::vector<int64_t> stated = context.attr_ints("qkv_hidden_sizes", {});
  Widths widths{total / 3, total / 3, total / 3};
  if (!stated.empty()) {
    if (stated.size() != 3) context.fail("qkv_hidden_sizes has {} elements, expected 3", stated.size());
    for (const int64_t width : stated)
      if (width < 0 || width > total) context.fail("qkv_hidden_sizes holds {}, beyond the weights' {}", width, total);
    widths = {stated[0], stated[1], stated[2]};
  }
  const int64_t heads = context.attr_int("num_heads");
  if (heads < 1) context.fail("num_heads is {}", heads);
  if (widths.total() != total || widths.q != widths.k || widths.q % heads != 0 || widths.v % heads != 0)
    context.fail("weights of {} columns do not split into Q, K and V of {} heads", total, heads);
  return widths;
}

void refuse_unsupported(const OpContext& context) {
  if (context.attr_int("do_rotary", 0) != 0) context.unsupported("do_rotary");
  if (context.attr_int("past_present_share_buffer", 0) != 0 || context.has_input(kPastLength))
    context.unsupported("past and present in one buffer");
}

}  // namespace

void infer_packed_attention(InferContext& context) {
  refuse_unsupported(context);
  const Dim batch = dim_of(context, kSrc, 3, 0, "the input"), length = dim_of(context, kSrc, 3, 1, "the input");
  attention::expect_equal(dim_of(context, kSrc, 3, 2, "the input"), dim_of(context, kWeights, 2, 0, "weights"), context,
                          "widths of the input and rows of the weights");
  const Dim total = dim_of(context, kWeights, 2, 1, "weights");
  if (context.has_input(kBias))
    attention::expect_equal(dim_of(context, kBias, 1, 0, "bias"), total, context, "lengths of weights and bias");
  const int64_t heads = context.attr_int("num_heads");
  Dim value_width, head_size;
  if (total.is_known()) {
    const Widths widths = widths_of(context, total.value());
    value_width = widths.v, head_size = widths.q / heads;
    if (widths.q != widths.v && (context.has_input(kPast) || context.wants_output(1)))
      context.unsupported("a cache whose keys and values differ in size");
  }
  Dim past(0);
  if (context.has_input(kPast)) {
    past = dim_of(context, kPast, 5, 3, "past");
    attention::expect_equal(dim_of(context, kPast, 5, 0, "past"), Dim(2), context, "parts of past");
    attention::expect_equal(dim_of(context, kPast, 5, 1, "past"), batch, context, "batches of past and input");
    attention::expect_equal(dim_of(context, kPast, 5, 2, "past"), Dim(heads), context, "heads of past and attention");
    attention::expect_equal(dim_of(context, kPast, 5, 4, "past"), head_size, context, "head sizes of past and input");
  }
  context.set_output(0, context.dtype(kSrc), Shape{batch, length, value_width});
  context.set_output(1, context.dtype(kSrc), Shape{2, batch, heads, past + length, head_size});
}

namespace {

/// src * weights + bias, [batch * length, total].
template <class C> Tensor project(KernelContext& context) {
  const Tensor x = widened<C>(context.input(kSrc), context), w = widened<C>(context.input(kWeights), context);
  const int64_t inner = w.dim(0), width = w.dim(1);
  Tensor result = Tensor::allocate(dtype_of<C>(), {x.dim(0), x.dim(1), width});
  C* dst = result.mutable_data<C>();
  const int64_t rows = x.dim(0) * x.dim(1);
  gemm(rows, width, inner, MatrixView<C>{x.data<C>(), inner, 1}, MatrixView<C>{w.data<C>(), width, 1}, dst, width);
  if (!context.has_input(kBias)) return result;
  const Tensor bias = widened<C>(context.input(kBias), context);
  parallel_for(rows, 1 + 16 * 1024 / (width + 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t j = 0; j < width; ++j) dst[row * width + j] += bias.data<C>()[j];
  });
  return result;
}

template <class C> void run_typed(KernelContext& context) {
  const Tensor qkv = project<C>(context);
  const Widths widths = widths_of(context, qkv.dim(2));
  attention::Problem<C> problem;
  attention::Sizes& sizes = problem.sizes;
  sizes.batch = qkv.dim(0), sizes.q_len = sizes.kv_len = qkv.dim(1);
  sizes.q_heads = sizes.kv_heads = context.attr_int("num_heads");
  sizes.head_size = widths.q / sizes.q_heads, sizes.v_head_size = widths.v / sizes.q_heads;
  const auto part = [&](int64_t offset, int64_t size) {
    return attention::HeadsView<const C>{qkv.data<C>() + offset, sizes.q_len * widths.total(), size, widths.total()};
  };
  problem.q = part(0, sizes.head_size);
  problem.k = part(widths.q, sizes.head_size);
  problem.v = part(widths.q + widths.k, sizes.v_head_size);

  Tensor cached[2];
  int64_t past_length = 0;
  if (context.has_input(kPast) || context.wants_output(1)) {
    Tensor past[2];
    if (context.has_input(kPast)) {
      const Tensor whole = widened<C>(context.input(kPast), context);
      past_length = whole.dim(3);
      const Dims dims(whole.dims().begin() + 1, whole.dims().end());
      for (int64_t i = 0; i < 2; ++i)
        past[i] = Tensor::from<C>(
            dims, std::span(whole.data<C>() + i * whole.count() / 2, static_cast<size_t>(whole.count() / 2)));
    }
    const attention::HeadsView<const C> current[2] = {problem.k, problem.v};
    for (int i = 0; i < 2; ++i)
      cached[i] = joined<C>(past[i], current[i], sizes.batch, sizes.kv_heads, sizes.q_len, sizes.head_size);
    sizes.kv_len += past_length;
    problem.k = attention::heads_first(cached[0].template data<C>(), sizes.kv_heads, sizes.kv_len, sizes.head_size);
    problem.v = attention::heads_first(cached[1].template data<C>(), sizes.kv_heads, sizes.kv_len, sizes.head_size);
  }
  problem.scale = scale_of(context, sizes.head_size);
  const Tensor bias = combined_bias<C>(context, kMask, kAttentionBias, sizes);
  if (!bias.empty()) problem.bias = attention::bias_of<C>(bias);
  problem.window = attention::open_window(sizes.batch, sizes.kv_len);
  problem.window.causal = context.attr_int("unidirectional", 0) != 0;
  problem.window.offset.assign(problem.window.offset.size(), past_length);
  RoundedOutput<C> y(context.output(0));
  problem.y = attention::rows_first(y.data(), sizes.q_heads, sizes.q_len, sizes.v_head_size);
  attention::attend(problem);
  y.store();
  if (!context.wants_output(1)) return;
  RoundedOutput<C> present(context.output(1));
  for (int i = 0; i < 2; ++i)
    std::copy_n(cached[i].template data<C>(), cached[i].count(), present.data() + i * cached[0].count());
  present.store();
}

}  // namespace

void run_packed_attention(KernelContext& context) {
  if (all_outputs_empty(context)) return;
  dispatch_compute(context.input(kSrc).dtype(), context, [&]<class C>() { run_typed<C>(context); });
}

double packed_attention_flops(const CostContext& context) {
  const Dims src = context.input_dims(kSrc), weights = context.input_dims(kWeights);
  if (src.size() != 3 || weights.size() != 2) return 0;
  const double rows = static_cast<double>(src[0] * src[1]);
  const double project = 2 * rows * context.input_elements(kWeights);
  return project + 4 * rows * static_cast<double>(src[1]) * static_cast<double>(weights[1]) / 3;
}

}  // namespace attune::contrib
