// Attention of ai.onnx: from opset 23, with an external cache from 24 and a sliding window from 25.
#include "ops/attention.h"
#include "ops/empty_outputs.h"
#include "ops/widen.h"

#include <cmath>
#include <limits>

namespace attune::attention {
namespace {

enum Input { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidKeys };
enum Output { kY, kPresentKey, kPresentValue, kQk };

/// Q, K or V as [batch, heads, rows, size], whether it came so or packed.
struct HeadDims {
  Dim batch, heads, rows, size;
  bool packed = false;
};

HeadDims head_dims(const InferContext& context, int i, std::string_view heads_attribute, std::string_view what) {
  HeadDims dims;
  const auto& shape = context.shape(i);
  if (!shape) return dims;
  if (shape->size() == 4) {
    dims.batch = (*shape)[0], dims.heads = (*shape)[1], dims.rows = (*shape)[2], dims.size = (*shape)[3];
    return dims;
  }
  if (shape->size() != 3) context.fail("{} has rank {}, expected 3 or 4", what, shape->size());
  const int64_t heads = context.attr_int(heads_attribute);
  dims.batch = (*shape)[0], dims.rows = (*shape)[1];
  dims.size = head_size_of((*shape)[2], heads, context, what);
  dims.heads = heads;
  dims.packed = true;
  return dims;
}

Dim past_length(const InferContext& context, int past, const HeadDims& current, std::string_view what) {
  if (!context.has_input(past)) return Dim(0);
  const auto& shape = context.shape(past);
  if (!shape) return Dim::unknown();
  if (shape->size() != 4) context.fail("{} has rank {}, expected 4", what, shape->size());
  expect_equal((*shape)[0], current.batch, context, "batches of the cache and the new keys");
  expect_equal((*shape)[1], current.heads, context, "heads of the cache and the new keys");
  expect_equal((*shape)[3], current.size, context, "head sizes of the cache and the new keys");
  return (*shape)[2];
}

/// A mask must broadcast to [batch, heads, queries, keys], its last dim may be shorter.
void check_mask(const InferContext& context, const Shape& scores) {
  if (!context.has_input(kMask) || !context.shape(kMask)) return;
  const Shape& mask = *context.shape(kMask);
  if (mask.empty() || mask.size() > 4) context.fail("attn_mask has rank {}, expected 1 to 4", mask.size());
  for (size_t i = 0; i < mask.size(); ++i) {
    const Dim& own = mask[mask.size() - 1 - i];
    const Dim& full = scores[3 - i];
    if (!own.is_known() || !full.is_known()) continue;
    const bool fits = i == 0 ? own.value() <= full.value() : own.value() == 1 || own.value() == full.value();
    if (!fits) context.fail("attn_mask {} does not broadcast to {}", to_text(mask), to_text(scores));
  }
}

}  // namespace

void infer_attention(InferContext& context) {
  if (context.has_input(kPastKey) != context.has_input(kPastValue))
    context.fail("past_key and past_value must be given together");
  if (context.has_input(kValidKeys) && context.has_input(kPastKey))
    context.fail("nonpad_kv_seqlen is for a cache outside of the operator; it cannot go with past_key");
  const HeadDims q = head_dims(context, kQuery, "q_num_heads", "Q");
  const HeadDims k = head_dims(context, kKey, "kv_num_heads", "K");
  const HeadDims v = head_dims(context, kValue, "kv_num_heads", "V");
  if (context.shape(kQuery) && context.shape(kKey) && context.shape(kValue) &&
      (q.packed != k.packed || q.packed != v.packed))
    context.fail("Q, K and V must have the same rank");
  expect_equal(q.batch, k.batch, context, "batches of Q and K");
  expect_equal(q.batch, v.batch, context, "batches of Q and V");
  expect_equal(q.size, k.size, context, "head sizes of Q and K");
  expect_equal(k.rows, v.rows, context, "sequence lengths of K and V");
  expect_equal(k.heads, v.heads, context, "heads of K and V");
  if (q.heads.is_known() && k.heads.is_known()) check_heads(q.heads.value(), k.heads.value(), context);
  const Dim keys = past_length(context, kPastKey, k, "past_key") + k.rows;
  const Dim values = past_length(context, kPastValue, v, "past_value") + v.rows;
  expect_equal(keys, values, context, "lengths of keys and values");
  if (context.has_input(kValidKeys) && context.shape(kValidKeys)) {
    const Shape& valid = *context.shape(kValidKeys);
    if (valid.size() != 1) context.fail("nonpad_kv_seqlen has rank {}, expected 1", valid.size());
    expect_equal(valid[0], q.batch, context, "batches of nonpad_kv_seqlen and Q");
  }
  const Shape scores = {q.batch, q.heads, q.rows, keys};
  check_mask(context, scores);

  std::optional<Shape> y;
  if (context.shape(kQuery))
    y = q.packed ? Shape{q.batch, q.rows, q.heads * v.size} : Shape{q.batch, q.heads, q.rows, v.size};
  context.set_output(kY, context.dtype(kQuery), std::move(y));
  context.set_output(kPresentKey, context.dtype(kKey), Shape{k.batch, k.heads, keys, k.size});
  context.set_output(kPresentValue, context.dtype(kValue), Shape{v.batch, v.heads, values, v.size});
  context.set_output(kQk, context.dtype(kQuery), scores);
}

namespace {

/// Keys or values with the cache before them as [batch, heads, past + rows, size].
void join_cache(const Tensor* past, const Tensor& current, int64_t heads, Tensor& dst) {
  if (dst.count() == 0) return;
  const bool packed = current.rank() == 3;
  const int64_t batch = dst.dim(0), rows = current.dim(packed ? 1 : 2), past_rows = past ? past->dim(2) : 0;
  const int64_t size = dst.size_bytes() / dst.count() * dst.dim(3);  // bytes of a row: only moved, never looked at
  const auto* src = reinterpret_cast<const uint8_t*>(current.bytes());
  HeadsView<uint8_t> to = heads_first(reinterpret_cast<uint8_t*>(dst.mutable_bytes()), heads, past_rows + rows, size);
  if (past)
    copy_heads(heads_first(reinterpret_cast<const uint8_t*>(past->bytes()), heads, past_rows, size), to, batch, heads,
               past_rows, size);
  to.data += past_rows * size;
  copy_heads(packed ? rows_first(src, heads, rows, size) : heads_first(src, heads, rows, size), to, batch, heads, rows,
             size);
}

/// Keys or values of the whole problem, always [batch, heads, rows, size]; also the present output when wanted.
Tensor whole_cache(KernelContext& context, int current, int past, int present, int64_t heads) {
  const Tensor& rows = context.input(current);
  const bool has_past = context.has_input(past);
  if (!has_past && rows.rank() == 4) {
    if (context.wants_output(present)) context.set_output(present, rows);
    return rows;
  }
  Tensor result;
  if (context.wants_output(present)) {
    result = context.output(present);
  } else {
    const int64_t size = rows.rank() == 3 ? rows.dim(2) / heads : rows.dim(3);
    const int64_t length = rows.dim(rows.rank() == 3 ? 1 : 2) + (has_past ? context.input(past).dim(2) : 0);
    result = Tensor::allocate(rows.dtype(), {rows.dim(0), heads, length, size});
  }
  join_cache(has_past ? &context.input(past) : nullptr, rows, heads, result);
  return result;
}

/// The mask as numbers to add: a bool becomes 0 or -infinity.
template <class C> Tensor additive_mask(const Tensor& mask) {
  if (mask.dtype() != DType::boolean) return convert(mask, dtype_of<C>());
  Tensor result = Tensor::allocate(dtype_of<C>(), mask.dims());
  C* dst = result.mutable_data<C>();
  const uint8_t* src = mask.data<uint8_t>();
  for (int64_t i = 0; i < mask.count(); ++i) dst[i] = src[i] != 0 ? C(0) : -std::numeric_limits<C>::infinity();
  return result;
}

KeyWindow window_of(const KernelContext& context, const Sizes& sizes) {
  KeyWindow window = open_window(sizes.batch, sizes.kv_len);
  window.causal = context.attr_int("is_causal", 0) != 0;
  window.left = context.attr_int("left_window_size", -1);
  window.right = context.attr_int("right_window_size", -1);
  if (window.left < -1 || window.right < -1)
    context.fail("window sizes {} and {}, expected -1 or more", window.left, window.right);
  if (context.has_input(kPastKey)) window.offset.assign(window.offset.size(), context.input(kPastKey).dim(2));
  if (context.has_input(kValidKeys)) {
    window.valid = context.ints(kValidKeys);
    for (size_t b = 0; b < window.valid.size(); ++b) {
      if (window.valid[b] < 0 || window.valid[b] > sizes.kv_len)
        context.fail("nonpad_kv_seqlen holds {}, expected 0 to {}", window.valid[b], sizes.kv_len);
      window.offset[b] = window.valid[b] - sizes.q_len;
    }
  }
  return window;
}

QkMode mode_of(const KernelContext& context) {
  if (!context.wants_output(kQk)) return QkMode::none;
  switch (context.attr_int("qk_matmul_output_mode", 0)) {
    case 0: return QkMode::raw;
    case 1: return QkMode::softcapped;
    case 2: return QkMode::biased;
    case 3: return QkMode::probabilities;
    default: context.fail("qk_matmul_output_mode is not 0 to 3");
  }
}

template <class C> void run_typed(KernelContext& context) {
  const Tensor q = widened<C>(context.input(kQuery), context);
  const bool packed = q.rank() == 3;
  Sizes sizes;
  sizes.batch = q.dim(0);
  sizes.q_heads = packed ? context.attr_int("q_num_heads") : q.dim(1);
  sizes.kv_heads = packed ? context.attr_int("kv_num_heads") : context.input(kKey).dim(1);
  sizes.q_len = q.dim(packed ? 1 : 2);
  sizes.head_size = packed ? q.dim(2) / sizes.q_heads : q.dim(3);
  const Tensor k = widened<C>(whole_cache(context, kKey, kPastKey, kPresentKey, sizes.kv_heads), context);
  const Tensor v = widened<C>(whole_cache(context, kValue, kPastValue, kPresentValue, sizes.kv_heads), context);
  sizes.kv_len = k.dim(2);
  sizes.v_head_size = v.dim(3);

  Problem<C> problem;
  problem.sizes = sizes;
  problem.q = packed ? rows_first(q.data<C>(), sizes.q_heads, sizes.q_len, sizes.head_size)
                     : heads_first(q.data<C>(), sizes.q_heads, sizes.q_len, sizes.head_size);
  problem.k = heads_first(k.data<C>(), sizes.kv_heads, sizes.kv_len, sizes.head_size);
  problem.v = heads_first(v.data<C>(), sizes.kv_heads, sizes.kv_len, sizes.v_head_size);
  problem.scale = context.has_attr("scale") ? static_cast<double>(context.attr_float("scale"))
                                            : 1 / std::sqrt(static_cast<double>(sizes.head_size));
  problem.softcap = static_cast<double>(context.attr_float("softcap", 0));
  Tensor mask;
  if (context.has_input(kMask)) {
    mask = additive_mask<C>(context.input(kMask));
    problem.bias = bias_of<C>(mask);
  }
  problem.window = window_of(context, sizes);
  RoundedOutput<C> y(context.output(kY));
  problem.y = packed ? rows_first(y.data(), sizes.q_heads, sizes.q_len, sizes.v_head_size)
                     : heads_first(y.data(), sizes.q_heads, sizes.q_len, sizes.v_head_size);
  problem.qk_mode = mode_of(context);
  std::optional<RoundedOutput<C>> qk;
  if (problem.qk_mode != QkMode::none) problem.qk = qk.emplace(context.output(kQk)).data();
  attend(problem);
  y.store();
  if (qk) qk->store();
}

}  // namespace

void run_attention(KernelContext& context) {
  if (all_outputs_empty(context)) return;
  // softmax_precision can only ask for what float or double already give, or for less.
  const DType precision = context.attr_int("softmax_precision", 0) == 11 ? DType::f64 : DType::undefined;
  const DType dtype = precision == DType::f64 ? precision : context.input(kQuery).dtype();
  dispatch_compute(dtype, context, [&]<class C>() { run_typed<C>(context); });
}

double attention_flops(const CostContext& context) {
  const Dims q = context.input_dims(0), k = context.input_dims(1), v = context.input_dims(2);
  if (q.size() < 3 || k.size() != q.size() || v.size() != q.size()) return 0;
  double keys = static_cast<double>(k[k.size() - 2]);
  if (context.has_input(kPastKey)) {
    const Dims past = context.input_dims(kPastKey);
    if (past.size() == 4) keys += static_cast<double>(past[2]);
  }
  return 2 * keys * (context.input_elements(0) + context.output_elements(0));
}

}  // namespace attune::attention
