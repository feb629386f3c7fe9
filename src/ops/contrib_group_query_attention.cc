// GroupQueryAttention of com.microsoft: causal decoding with a cache that may be longer than what it holds.
#include "ops/attention_rotary.h"
#include "ops/contrib_transformer.h"
#include "ops/empty_outputs.h"
#include "ops/widen.h"

#include <limits>

namespace attune::contrib {
namespace {

enum Input {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLastKeys,
  kTotal,
  kCos,
  kSin,
  kPositionIds,
  kAttentionBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm
};
enum Output { kY, kPresentKey, kPresentValue, kQk };

struct Heads {
  int64_t q = 0, kv = 0;
};

Heads heads_of(const OpContext& context) {
  const Heads heads{context.attr_int("num_heads"), context.attr_int("kv_num_heads")};
  attention::check_heads(heads.q, heads.kv, context);
  return heads;
}

void refuse_unsupported(const OpContext& context) {
  for (const int i : {static_cast<int>(kKeyScale), static_cast<int>(kValueScale)})
    if (context.has_input(i)) context.unsupported("a quantized cache");
  for (const int i : {static_cast<int>(kQueryNorm), static_cast<int>(kKeyNorm)})
    if (context.has_input(i)) context.unsupported("normalised queries and keys");
  if (context.attr_int("sliding_window_cache", 0) != 0) context.unsupported("a cache that slides");
}

}  // namespace

void infer_group_query_attention(InferContext& context) {
  if (!context.has_input(kLastKeys) || !context.has_input(kTotal))
    context.fail("seqlens_k or total_sequence_length is missing");
  refuse_unsupported(context);
  const Heads heads = heads_of(context);
  const DType dtype = context.dtype(kQuery);
  const Dim batch = dim_of(context, kQuery, 3, 0, "the query"), q_len = dim_of(context, kQuery, 3, 1, "the query");
  const Dim width = dim_of(context, kQuery, 3, 2, "the query");
  if (context.has_input(kKey) != context.has_input(kValue)) context.fail("key and value must be given together");
  const bool packed = !context.has_input(kKey);
  const Dim head_size = attention::head_size_of(width, packed ? heads.q + 2 * heads.kv : heads.q, context, "the query");
  if (!packed) {
    for (const int i : {static_cast<int>(kKey), static_cast<int>(kValue)}) {
      attention::expect_equal(dim_of(context, i, 3, 0, "key or value"), batch, context, "batches of query and key");
      attention::expect_equal(dim_of(context, i, 3, 1, "key or value"), q_len, context, "lengths of query and key");
      attention::expect_equal(dim_of(context, i, 3, 2, "key or value"), head_size * Dim(heads.kv), context,
                              "widths of key or value and its heads");
    }
  }
  if (context.has_input(kPastKey) != context.has_input(kPastValue))
    context.fail("past_key and past_value must be given together");
  Dim capacity(0);
  if (context.has_input(kPastKey)) {
    for (const int i : {static_cast<int>(kPastKey), static_cast<int>(kPastValue)}) {
      attention::expect_equal(dim_of(context, i, 4, 0, "a cache"), batch, context, "batches of query and cache");
      attention::expect_equal(dim_of(context, i, 4, 1, "a cache"), heads.kv, context, "heads of key and cache");
      attention::expect_equal(dim_of(context, i, 4, 3, "a cache"), head_size, context, "head sizes of key and cache");
    }
    capacity = dim_of(context, kPastKey, 4, 2, "past_key");
    attention::expect_equal(dim_of(context, kPastValue, 4, 2, "past_value"), capacity, context,
                            "lengths of the caches");
  }
  if (context.attr_int("do_rotary", 0) != 0 && (!context.has_input(kCos) || !context.has_input(kSin)))
    context.fail("do_rotary needs cos_cache and sin_cache");
  const DType total_dtype = context.dtype(kTotal);
  if (total_dtype != DType::i32 && total_dtype != DType::i64 && total_dtype != DType::undefined)
    context.fail("total_sequence_length is {}, expected i32", dtype_name(total_dtype));
  if (context.shape(kTotal) && context.shape(kTotal)->size() > 1)
    context.fail("total_sequence_length has rank {}, expected 0 or 1", context.shape(kTotal)->size());
  Dim total;
  if (const auto known = context.content(kTotal)) {
    if (known->size() != 1) context.fail("total_sequence_length has {} elements, expected one", known->size());
    total = (*known)[0];
  }
  Dim present;
  if (total.is_known() && capacity.is_known()) present = std::max(total.value(), capacity.value());
  context.set_output(kY, dtype, Shape{batch, q_len, head_size * Dim(heads.q)});
  context.set_output(kPresentKey, dtype, Shape{batch, heads.kv, present, head_size});
  context.set_output(kPresentValue, dtype, Shape{batch, heads.kv, present, head_size});
  context.set_output(kQk, dtype, Shape{batch, heads.q, q_len, total});
}

namespace {

template <class C> class GqaRun {
 public:
  explicit GqaRun(KernelContext& context) : context_(context), heads_(heads_of(context)) {}

  void run() {
    read_operands();
    read_lengths();
    rotate_operands();
    fill_caches();
    attend();
  }

 private:
  attention::Sizes& sizes() { return problem_.sizes; }
  static size_t at(int64_t index) { return static_cast<size_t>(index); }

  void read_operands() {
    query_ = widened<C>(context_.input(kQuery), context_);
    const bool packed = !context_.has_input(kKey);
    const int64_t width = query_.dim(2);
    sizes().batch = query_.dim(0), sizes().q_len = query_.dim(1);
    sizes().q_heads = heads_.q, sizes().kv_heads = heads_.kv;
    const int64_t size = packed ? width / (heads_.q + 2 * heads_.kv) : width / heads_.q;
    sizes().head_size = sizes().v_head_size = size;
    if (packed) {
      const auto part = [&](int64_t first_head) {
        return attention::HeadsView<const C>{query_.data<C>() + first_head * size, sizes().q_len * width, size, width};
      };
      q_ = part(0), k_ = part(heads_.q), v_ = part(heads_.q + heads_.kv);
      return;
    }
    key_ = widened<C>(context_.input(kKey), context_);
    value_ = widened<C>(context_.input(kValue), context_);
    q_ = attention::rows_first(query_.data<C>(), heads_.q, sizes().q_len, size);
    k_ = attention::rows_first(key_.data<C>(), heads_.kv, sizes().q_len, size);
    v_ = attention::rows_first(value_.data<C>(), heads_.kv, sizes().q_len, size);
  }

  /// Where each row of the batch stands: keys before this call, and keys in all.
  void read_lengths() {
    const std::vector<int64_t> last = context_.ints(kLastKeys), total = context_.ints(kTotal);
    if (last.size() != at(sizes().batch))
      context_.fail("seqlens_k has {} elements for a batch of {}", last.size(), sizes().batch);
    if (total.size() != 1) context_.fail("total_sequence_length has {} elements, expected one", total.size());
    total_ = total[0];
    if (total_ < sizes().q_len)
      context_.fail("total_sequence_length {} is below the {} new tokens", total_, sizes().q_len);
    first_prompt_ = sizes().q_len == total_;
    const int64_t cached = context_.has_input(kPastKey) ? context_.input(kPastKey).dim(2) : 0;
    for (const int64_t index : last) {
      const int64_t keys = index < total_ ? index + 1 : -1;
      const int64_t before = first_prompt_ ? 0 : keys - sizes().q_len;
      if (keys < 1 || before < 0 || before > cached)
        context_.fail("seqlens_k holds {}, which fits neither {} new tokens nor {} in the cache", index, sizes().q_len,
                      cached);
      before_.push_back(before);
      valid_.push_back(keys);
    }
  }

  std::vector<int64_t> positions() const {
    std::vector<int64_t> given;
    if (context_.has_input(kPositionIds)) given = context_.ints(kPositionIds);
    const int64_t length = problem_.sizes.q_len, count = problem_.sizes.batch * length;
    if (!given.empty() && !first_prompt_ && given.size() != at(count))
      context_.fail("position_ids has {} elements, expected {}", given.size(), count);
    std::vector<int64_t> result;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t b = i / length, s = i % length;
      if (first_prompt_)
        result.push_back((given.empty() ? 0 : given[0]) + s);  // of a prompt only the first position is read
      else
        result.push_back(given.empty() ? before_[at(b)] + s : given[at(i)]);
    }
    return result;
  }

  void rotate_operands() {
    if (context_.attr_int("do_rotary", 0) == 0) return;
    const Tensor cos = widened<C>(context_.input(kCos), context_), sin = widened<C>(context_.input(kSin), context_);
    const int64_t size = sizes().head_size;
    if (cos.rank() != 2 || cos.dims() != sin.dims() || 2 * cos.dim(1) > size)
      context_.fail("caches of {} and {} for heads of {}", to_text(cos.dims()), to_text(sin.dims()), size);
    const std::vector<int64_t> rows = positions();
    for (const int64_t row : rows)
      if (row < 0 || row >= cos.dim(0)) context_.fail("position {} is outside of the cache of {}", row, cos.dim(0));
    attention::Rotation<C> rotation;
    rotation.batch = sizes().batch, rotation.rows = sizes().q_len;
    rotation.head_size = size, rotation.rotary_size = 2 * cos.dim(1);
    rotation.interleaved = context_.attr_int("rotary_interleaved", 0) != 0;
    rotation.cos = cos.data<C>(), rotation.sin = sin.data<C>();
    rotation.angle_rows = rows.data();
    const auto turn = [&](attention::HeadsView<const C>& view, int64_t heads, Tensor& storage) {
      rotation.heads = heads;
      storage = Tensor::allocate(dtype_of<C>(), {sizes().batch, sizes().q_len, heads * size});
      attention::rotate(rotation, view, attention::rows_first(storage.mutable_data<C>(), heads, sizes().q_len, size));
      view = attention::rows_first(storage.data<C>(), heads, sizes().q_len, size);
    };
    turn(q_, heads_.q, rotated_q_);
    turn(k_, heads_.kv, rotated_k_);
  }

  /// The caches with the new rows written behind what each row of the batch holds; beyond that, zeros.
  Tensor filled(int past_slot, int present_slot, const attention::HeadsView<const C>& rows) {
    const int64_t size = sizes().head_size;
    const Tensor past = context_.has_input(past_slot) ? widened<C>(context_.input(past_slot), context_) : Tensor();
    const int64_t cached = past.empty() ? 0 : past.dim(2), capacity = std::max(cached, total_);
    Tensor result = Tensor::zeros(dtype_of<C>(), {sizes().batch, heads_.kv, capacity, size});
    const auto dst = attention::heads_first(result.mutable_data<C>(), heads_.kv, capacity, size);
    for (int64_t b = 0; b < sizes().batch; ++b)
      for (int64_t h = 0; h < heads_.kv; ++h) {
        if (cached > 0)
          std::copy_n(past.data<C>() + (b * heads_.kv + h) * cached * size, before_[at(b)] * size, dst.row(b, h, 0));
        for (int64_t i = 0; i < sizes().q_len; ++i)
          std::copy_n(rows.row(b, h, i), size, dst.row(b, h, before_[at(b)] + i));
      }
    if (context_.wants_output(present_slot)) store_rounded(result, context_.output(present_slot));
    return result;
  }

  void fill_caches() {
    keys_ = filled(kPastKey, kPresentKey, k_);
    values_ = filled(kPastValue, kPresentValue, v_);
  }

  void attend() {
    const int64_t size = sizes().head_size, capacity = keys_.dim(2);
    sizes().kv_len = total_;
    problem_.q = q_;
    problem_.k = attention::heads_first(keys_.template data<C>(), heads_.kv, capacity, size);
    problem_.v = attention::heads_first(values_.template data<C>(), heads_.kv, capacity, size);
    problem_.scale = scale_of(context_, size);
    problem_.softcap = static_cast<double>(context_.attr_float("softcap", 0));
    problem_.window.offset = before_;
    problem_.window.valid = valid_;
    problem_.window.causal = context_.attr_int("causal", 1) != 0;
    if (const int64_t window = context_.attr_int("local_window_size", -1); window != -1) {
      if (window < 1) context_.fail("local_window_size is {}, expected -1 or from 1 on", window);
      problem_.window.left = window - 1;  // the window counts the query's own position
    }
    const Tensor bias = combined_bias<C>(context_, -1, kAttentionBias, sizes());
    if (!bias.empty()) problem_.bias = attention::bias_of<C>(bias);
    std::vector<C> sink;
    if (context_.has_input(kSink)) {
      const Tensor given = widened<C>(context_.input(kSink), context_);
      if (given.count() != heads_.q) context_.fail("head_sink has {} elements for {} heads", given.count(), heads_.q);
      sink.assign(given.data<C>(), given.data<C>() + given.count());
    } else if (context_.attr_int("smooth_softmax", 0) == 1) {
      sink.assign(at(heads_.q), C(0));
    }
    if (!sink.empty()) problem_.sink = sink.data();
    RoundedOutput<C> y(context_.output(kY));
    problem_.y = attention::rows_first(y.data(), heads_.q, sizes().q_len, size);
    std::optional<RoundedOutput<C>> qk;
    if (context_.wants_output(kQk)) {
      problem_.qk_mode =
          context_.attr_int("qk_output", 0) == 2 ? attention::QkMode::probabilities : attention::QkMode::biased;
      problem_.qk = qk.emplace(context_.output(kQk)).data();
    }
    attention::attend(problem_);
    y.store();
    if (!qk) return;
    // Scores of keys that a query does not see are given as zeros.
    std::replace(problem_.qk, problem_.qk + context_.output(kQk).count(), -std::numeric_limits<C>::infinity(), C(0));
    qk->store();
  }

  KernelContext& context_;
  Heads heads_;
  attention::Problem<C> problem_;
  Tensor query_, key_, value_, rotated_q_, rotated_k_, keys_, values_;
  attention::HeadsView<const C> q_, k_, v_;
  int64_t total_ = 0;
  bool first_prompt_ = false;
  std::vector<int64_t> before_, valid_;
};

}  // namespace

void run_group_query_attention(KernelContext& context) {
  if (all_outputs_empty(context)) return;
  dispatch_compute(context.input(kQuery).dtype(), context, [&]<class C>() { GqaRun<C>(context).run(); });
}

}  // namespace attune::contrib
