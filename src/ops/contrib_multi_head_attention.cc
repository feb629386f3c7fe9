// MultiHeadAttention of com.microsoft: queries, keys and values come projected, apart or packed.
#include "ops/contrib_transformer.h"
#include "ops/empty_outputs.h"
#include "ops/widen.h"

namespace attune::contrib {
namespace {

enum Input { kQuery, kKey, kValue, kBias, kMask, kAttentionBias, kPastKey, kPastValue, kPastLength, kIndirection };
enum Output { kY, kPresentKey, kPresentValue, kQk };

/// How keys and values reach the operator.
enum class Packing : uint8_t { apart, kv, qkv, heads_first };

Packing packing_of(const OpContext& context, std::optional<size_t> query_rank, std::optional<size_t> key_rank) {
  if (query_rank == 5) return Packing::qkv;
  if (!context.has_input(kKey)) context.fail("the key is missing and the query is not packed");
  if (key_rank == 5) return Packing::kv;
  if (!context.has_input(kValue)) context.fail("the value is missing");
  return key_rank == 4 ? Packing::heads_first : Packing::apart;
}

struct MhaDims {
  Dim batch, q_len, kv_len, head_size, v_head_size;
};

MhaDims dims_of(const InferContext& context, Packing packing, int64_t heads) {
  MhaDims dims;
  if (packing == Packing::qkv) {
    dims.batch = dim_of(context, kQuery, 5, 0, "the query");
    dims.q_len = dims.kv_len = dim_of(context, kQuery, 5, 1, "the query");
    attention::expect_equal(dim_of(context, kQuery, 5, 2, "the query"), heads, context, "heads of the packed query");
    attention::expect_equal(dim_of(context, kQuery, 5, 3, "the query"), 3, context, "parts of the packed query");
    dims.head_size = dims.v_head_size = dim_of(context, kQuery, 5, 4, "the query");
    return dims;
  }
  dims.batch = dim_of(context, kQuery, 3, 0, "the query");
  dims.q_len = dim_of(context, kQuery, 3, 1, "the query");
  dims.head_size = attention::head_size_of(dim_of(context, kQuery, 3, 2, "the query"), heads, context, "the query");
  if (packing == Packing::kv) {
    attention::expect_equal(dim_of(context, kKey, 5, 0, "the key"), dims.batch, context, "batches of query and key");
    dims.kv_len = dim_of(context, kKey, 5, 1, "the key");
    attention::expect_equal(dim_of(context, kKey, 5, 2, "the key"), heads, context, "heads of the packed key");
    attention::expect_equal(dim_of(context, kKey, 5, 3, "the key"), 2, context, "parts of the packed key");
    attention::expect_equal(dim_of(context, kKey, 5, 4, "the key"), dims.head_size, context, "head sizes");
    dims.v_head_size = dims.head_size;
    return dims;
  }
  const bool heads_first = packing == Packing::heads_first;
  const size_t rank = heads_first ? 4 : 3, rows = heads_first ? 2 : 1;
  attention::expect_equal(dim_of(context, kKey, rank, 0, "the key"), dims.batch, context, "batches of query and key");
  attention::expect_equal(dim_of(context, kValue, rank, 0, "the value"), dims.batch, context,
                          "batches of query and value");
  dims.kv_len = dim_of(context, kKey, rank, rows, "the key");
  attention::expect_equal(dim_of(context, kValue, rank, rows, "the value"), dims.kv_len, context,
                          "lengths of key and value");
  Dim key_size;
  if (heads_first) {
    attention::expect_equal(dim_of(context, kKey, 4, 1, "the key"), heads, context, "heads of the key");
    attention::expect_equal(dim_of(context, kValue, 4, 1, "the value"), heads, context, "heads of the value");
    key_size = dim_of(context, kKey, 4, 3, "the key");
    dims.v_head_size = dim_of(context, kValue, 4, 3, "the value");
  } else {
    key_size = attention::head_size_of(dim_of(context, kKey, 3, 2, "the key"), heads, context, "the key");
    dims.v_head_size = attention::head_size_of(dim_of(context, kValue, 3, 2, "the value"), heads, context, "the value");
  }
  attention::expect_equal(key_size, dims.head_size, context, "head sizes of query and key");
  return dims;
}

std::optional<size_t> rank_of(const InferContext& context, int i) {
  if (!context.has_input(i) || !context.shape(i)) return std::nullopt;
  return context.shape(i)->size();
}

}  // namespace

void infer_multi_head_attention(InferContext& context) {
  if (context.has_input(kPastLength) || context.has_input(kIndirection))
    context.unsupported("past and present in one buffer");
  if (context.has_input(kPastKey) != context.has_input(kPastValue))
    context.fail("past_key and past_value must be given together");
  const int64_t heads = context.attr_int("num_heads");
  if (heads < 1) context.fail("num_heads is {}", heads);
  const DType dtype = context.dtype(kQuery);
  if (!context.shape(kQuery) || (context.has_input(kKey) && !context.shape(kKey))) {
    for (const int i :
         {static_cast<int>(kY), static_cast<int>(kPresentKey), static_cast<int>(kPresentValue), static_cast<int>(kQk)})
      context.set_output(i, dtype, std::nullopt);
    return;
  }
  const Packing packing = packing_of(context, rank_of(context, kQuery), rank_of(context, kKey));
  const MhaDims dims = dims_of(context, packing, heads);
  if (context.has_input(kBias))
    attention::expect_equal(dim_of(context, kBias, 1, 0, "bias"),
                            (dims.head_size + dims.head_size + dims.v_head_size) * Dim(heads), context,
                            "lengths of the bias and of Q, K and V together");
  Dim past(0);
  if (context.has_input(kPastKey)) {
    past = dim_of(context, kPastKey, 4, 2, "past_key");
    attention::expect_equal(dim_of(context, kPastValue, 4, 2, "past_value"), past, context, "lengths of the caches");
    for (const int i : {static_cast<int>(kPastKey), static_cast<int>(kPastValue)}) {
      attention::expect_equal(dim_of(context, i, 4, 0, "a cache"), dims.batch, context, "batches of query and cache");
      attention::expect_equal(dim_of(context, i, 4, 1, "a cache"), heads, context, "heads of query and cache");
      attention::expect_equal(dim_of(context, i, 4, 3, "a cache"), i == kPastKey ? dims.head_size : dims.v_head_size,
                              context, "head sizes of a cache and new rows");
    }
  }
  const Dim total = past + dims.kv_len;
  context.set_output(kY, dtype, Shape{dims.batch, dims.q_len, dims.v_head_size * Dim(heads)});
  context.set_output(kPresentKey, dtype, Shape{dims.batch, heads, total, dims.head_size});
  context.set_output(kPresentValue, dtype, Shape{dims.batch, heads, total, dims.v_head_size});
  context.set_output(kQk, dtype, Shape{dims.batch, heads, dims.q_len, total});
}

namespace {

/// One of Q, K and V with its part of the bias, as rows of [batch, rows, heads * size].
template <class C> struct Rows {
  Tensor values;  // keeps what `view` points to
  attention::HeadsView<const C> view;
};

template <class C> Rows<C> with_bias(attention::HeadsView<const C> src, Tensor owner, const C* bias, int64_t batch,
                                     int64_t heads, int64_t rows, int64_t size) {
  if (bias == nullptr) return {std::move(owner), src};
  Rows<C> result;
  result.values = Tensor::allocate(dtype_of<C>(), {batch, rows, heads * size});
  const auto dst = attention::rows_first(result.values.template mutable_data<C>(), heads, rows, size);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < size; ++j) dst.row(b, h, i)[j] = src.row(b, h, i)[j] + bias[h * size + j];
  result.view = attention::rows_first(result.values.template data<C>(), heads, rows, size);
  return result;
}

/// Part `index` of `parts` that are packed as [batch, rows, heads, parts, size].
template <class C> attention::HeadsView<const C> packed_part(const Tensor& tensor, int64_t parts, int64_t index) {
  const int64_t rows = tensor.dim(1), heads = tensor.dim(2), size = tensor.dim(4), row = heads * parts * size;
  return {tensor.data<C>() + index * size, rows * row, parts * size, row};
}

template <class C> class MhaRun {
 public:
  explicit MhaRun(KernelContext& context) : context_(context), heads_(context.attr_int("num_heads")) {}

  void run() {
    read_operands();
    join_caches();
    problem_.scale = scale_of(context_, sizes().head_size);
    const Tensor bias = combined_bias<C>(context_, kMask, kAttentionBias, sizes());
    if (!bias.empty()) problem_.bias = attention::bias_of<C>(bias);
    problem_.window = attention::open_window(sizes().batch, sizes().kv_len);
    problem_.window.causal = context_.attr_int("unidirectional", 0) != 0;
    problem_.window.offset.assign(problem_.window.offset.size(), past_length_);
    RoundedOutput<C> y(context_.output(kY));
    problem_.y = attention::rows_first(y.data(), heads_, sizes().q_len, sizes().v_head_size);
    std::optional<RoundedOutput<C>> qk;
    if (context_.wants_output(kQk)) {
      problem_.qk_mode = attention::QkMode::biased;
      problem_.qk = qk.emplace(context_.output(kQk)).data();
    }
    attention::attend(problem_);
    y.store();
    if (qk) qk->store();
  }

 private:
  attention::Sizes& sizes() { return problem_.sizes; }

  void read_operands() {
    const Tensor query = widened<C>(context_.input(kQuery), context_);
    const auto rank = [&](int i) {
      return context_.has_input(i) ? std::optional(context_.input(i).dims().size()) : std::nullopt;
    };
    const Packing packing = packing_of(context_, rank(kQuery), rank(kKey));
    const Tensor key = packing == Packing::qkv ? query : widened<C>(context_.input(kKey), context_);
    const Tensor value =
        packing == Packing::qkv || packing == Packing::kv ? key : widened<C>(context_.input(kValue), context_);
    sizes().batch = query.dim(0), sizes().q_len = query.dim(1);
    sizes().q_heads = sizes().kv_heads = heads_;
    sizes().head_size = sizes().v_head_size = packing == Packing::qkv ? query.dim(4) : query.dim(2) / heads_;
    sizes().kv_len = key.dim(packing == Packing::heads_first ? 2 : 1);
    if (packing == Packing::apart) sizes().v_head_size = value.dim(2) / heads_;
    if (packing == Packing::heads_first) sizes().v_head_size = value.dim(3);

    attention::HeadsView<const C> q, k, v;
    if (packing == Packing::qkv)
      q = packed_part<C>(query, 3, 0), k = packed_part<C>(query, 3, 1), v = packed_part<C>(query, 3, 2);
    else
      q = attention::rows_first(query.data<C>(), heads_, sizes().q_len, sizes().head_size);
    if (packing == Packing::kv) k = packed_part<C>(key, 2, 0), v = packed_part<C>(key, 2, 1);
    if (packing == Packing::apart) {
      k = attention::rows_first(key.data<C>(), heads_, sizes().kv_len, sizes().head_size);
      v = attention::rows_first(value.data<C>(), heads_, sizes().kv_len, sizes().v_head_size);
    }
    if (packing == Packing::heads_first) {
      k = attention::heads_first(key.data<C>(), heads_, sizes().kv_len, sizes().head_size);
      v = attention::heads_first(value.data<C>(), heads_, sizes().kv_len, sizes().v_head_size);
    }
    const Tensor bias = context_.has_input(kBias) ? widened<C>(context_.input(kBias), context_) : Tensor();
    const C* q_bias = bias.empty() ? nullptr : bias.data<C>();
    // Keys that come as heads were projected, bias and all, by an earlier step.
    const C* kv_bias = bias.empty() || packing == Packing::heads_first ? nullptr : q_bias + heads_ * sizes().head_size;
    q_ = with_bias(q, query, q_bias, sizes().batch, heads_, sizes().q_len, sizes().head_size);
    k_ = with_bias(k, key, kv_bias, sizes().batch, heads_, sizes().kv_len, sizes().head_size);
    v_ = with_bias(v, value, kv_bias ? kv_bias + heads_ * sizes().head_size : nullptr, sizes().batch, heads_,
                   sizes().kv_len, sizes().v_head_size);
    problem_.q = q_.view, problem_.k = k_.view, problem_.v = v_.view;
  }

  void join_caches() {
    const int64_t rows = sizes().kv_len;
    if (context_.has_input(kPastKey)) past_length_ = context_.input(kPastKey).dim(2);
    sizes().kv_len += past_length_;
    join(kPastKey, kPresentKey, k_, problem_.k, rows, sizes().head_size);
    join(kPastValue, kPresentValue, v_, problem_.v, rows, sizes().v_head_size);
  }

  void join(int past_slot, int present_slot, Rows<C>& current, attention::HeadsView<const C>& view, int64_t rows,
            int64_t size) {
    if (!context_.has_input(past_slot) && !context_.wants_output(present_slot)) return;
    const Tensor past = context_.has_input(past_slot) ? widened<C>(context_.input(past_slot), context_) : Tensor();
    current.values = joined<C>(past, view, sizes().batch, heads_, rows, size);
    view = attention::heads_first(current.values.template data<C>(), heads_, sizes().kv_len, size);
    if (context_.wants_output(present_slot)) store_rounded(current.values, context_.output(present_slot));
  }

  KernelContext& context_;
  int64_t heads_;
  attention::Problem<C> problem_;
  Rows<C> q_, k_, v_;
  int64_t past_length_ = 0;
};

}  // namespace

void run_multi_head_attention(KernelContext& context) {
  if (all_outputs_empty(context)) return;
  dispatch_compute(context.input(kQuery).dtype(), context, [&]<class C>() { MhaRun<C>(context).run(); });
}

}  // namespace attune::contrib
