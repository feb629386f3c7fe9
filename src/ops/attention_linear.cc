// LinearAttention: a state matrix for each head that every token decays, corrects, writes and reads.
#include "base/parallel.h"
#include "ops/attention.h"
#include "ops/empty_outputs.h"
#include "ops/widen.h"

#include <cmath>

namespace attune::attention {
namespace {

enum Input { kQuery, kKey, kValue, kPastState, kDecay, kBeta };

struct Rule {
  bool gated = false;
  bool delta = false;
};

Rule rule_of(const OpContext& context) {
  const std::string name = context.attr_string("update_rule", "gated_delta");
  const Rule rule{name == "gated" || name == "gated_delta", name == "delta" || name == "gated_delta"};
  if (!rule.gated && !rule.delta && name != "linear")
    context.fail("update_rule '{}' is not known; expected linear, gated, delta or gated_delta", name);
  if (rule.gated != context.has_input(kDecay))
    context.fail("update_rule '{}' {} the input decay", name, rule.gated ? "needs" : "does not take");
  if (rule.delta != context.has_input(kBeta))
    context.fail("update_rule '{}' {} the input beta", name, rule.delta ? "needs" : "does not take");
  return rule;
}

Dim dim_of(const InferContext& context, int i, size_t axis) {
  const auto& shape = context.shape(i);
  if (!shape) return Dim::unknown();
  if (shape->size() != 3) context.fail("input {} has rank {}, expected 3", i, shape->size());
  return (*shape)[axis];
}

/// Decay comes for each head or for each element of a key, beta for each head or once.
void check_gates(const InferContext& context, int64_t kv_heads, const Dim& key_size) {
  if (context.has_input(kDecay)) {
    const Dim last = dim_of(context, kDecay, 2);
    if (last.is_known() && key_size.is_known() && last.value() != kv_heads &&
        last.value() != kv_heads * key_size.value())
      context.fail("decay has rows of {}, expected {} or {}", last.value(), kv_heads, kv_heads * key_size.value());
  }
  if (context.has_input(kBeta)) {
    const Dim last = dim_of(context, kBeta, 2);
    if (last.is_known() && last.value() != kv_heads && last.value() != 1)
      context.fail("beta has rows of {}, expected {} or 1", last.value(), kv_heads);
  }
  for (const int i : {static_cast<int>(kDecay), static_cast<int>(kBeta)}) {
    if (!context.has_input(i)) continue;
    expect_equal(dim_of(context, i, 0), dim_of(context, kQuery, 0), context, "batches of the query and a gate");
    expect_equal(dim_of(context, i, 1), dim_of(context, kQuery, 1), context, "lengths of the query and a gate");
  }
}

}  // namespace

void infer_linear_attention(InferContext& context) {
  rule_of(context);
  const int64_t q_heads = context.attr_int("q_num_heads"), kv_heads = context.attr_int("kv_num_heads");
  check_heads(q_heads, kv_heads, context);
  const Dim batch = dim_of(context, kQuery, 0), tokens = dim_of(context, kQuery, 1);
  for (const int i : {static_cast<int>(kKey), static_cast<int>(kValue)}) {
    expect_equal(dim_of(context, i, 0), batch, context, "batches of query, key and value");
    expect_equal(dim_of(context, i, 1), tokens, context, "lengths of query, key and value");
  }
  const Dim key_size = head_size_of(dim_of(context, kQuery, 2), q_heads, context, "query");
  expect_equal(head_size_of(dim_of(context, kKey, 2), kv_heads, context, "key"), key_size, context,
               "head sizes of query and key");
  const Dim value_size = head_size_of(dim_of(context, kValue, 2), kv_heads, context, "value");
  check_gates(context, kv_heads, key_size);
  const Shape state = {batch, kv_heads, key_size, value_size};
  const bool has_past = context.has_input(kPastState);
  if (has_past && context.shape(kPastState)) {
    const Shape& past = *context.shape(kPastState);
    if (past.size() != 4) context.fail("past_state has rank {}, expected 4", past.size());
    for (size_t i = 0; i < 4; ++i) expect_equal(past[i], state[i], context, "dims of past_state and the new state");
  }
  context.set_output(0, context.dtype(kQuery), Shape{batch, tokens, value_size * Dim(q_heads)});
  context.set_output(1, context.dtype(has_past ? kPastState : kQuery), state);
}

namespace {

struct Geometry {
  int64_t batch, tokens, q_heads, kv_heads, key_size, value_size;
};

/// One KV head of one batch row. All pointers are to its first token; `state` is key_size x value_size.
struct HeadRun {
  const float *q, *k, *v, *decay, *beta;
  int64_t q_stride, k_stride, v_stride, decay_stride, beta_stride;  // from token to token
  bool decay_each_key = false;                                      // else one number for the head
  int64_t group = 1;
  double scale = 1;
  double* state;
  float* y;
};

/// All sums are in double: the state is written thousands of times.
void run_head(const HeadRun& run, const Geometry& geometry) {
  const int64_t keys = geometry.key_size, values = geometry.value_size;
  std::vector<double> retrieved(static_cast<size_t>(values)), sum(static_cast<size_t>(values));
  for (int64_t t = 0; t < geometry.tokens; ++t) {
    const float* k = run.k + t * run.k_stride;
    const float* v = run.v + t * run.v_stride;
    if (run.decay != nullptr) {
      const float* decay = run.decay + t * run.decay_stride;
      for (int64_t d = 0; d < keys; ++d) {
        const double factor = std::exp(static_cast<double>(decay[run.decay_each_key ? d : 0]));
        for (int64_t m = 0; m < values; ++m) run.state[d * values + m] *= factor;
      }
    }
    for (int64_t m = 0; m < values; ++m) sum[static_cast<size_t>(m)] = static_cast<double>(v[m]);
    if (run.beta != nullptr) {
      std::fill(retrieved.begin(), retrieved.end(), 0.0);
      for (int64_t d = 0; d < keys; ++d)
        for (int64_t m = 0; m < values; ++m)
          retrieved[static_cast<size_t>(m)] += run.state[d * values + m] * static_cast<double>(k[d]);
      const auto beta = static_cast<double>(run.beta[t * run.beta_stride]);
      for (size_t m = 0; m < sum.size(); ++m) sum[m] = beta * (sum[m] - retrieved[m]);
    }
    for (int64_t d = 0; d < keys; ++d)
      for (int64_t m = 0; m < values; ++m)
        run.state[d * values + m] += static_cast<double>(k[d]) * sum[static_cast<size_t>(m)];
    for (int64_t g = 0; g < run.group; ++g) {
      const float* q = run.q + t * run.q_stride + g * keys;
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int64_t d = 0; d < keys; ++d)
        for (int64_t m = 0; m < values; ++m)
          sum[static_cast<size_t>(m)] += static_cast<double>(q[d]) * run.state[d * values + m];
      float* y = run.y + t * geometry.q_heads * values + g * values;
      for (int64_t m = 0; m < values; ++m) y[m] = static_cast<float>(run.scale * sum[static_cast<size_t>(m)]);
    }
  }
}

}  // namespace

void run_linear_attention(KernelContext& context) {
  if (all_outputs_empty(context)) return;
  const Tensor q = widened<float>(context.input(kQuery), context);
  const Tensor k = widened<float>(context.input(kKey), context);
  const Tensor v = widened<float>(context.input(kValue), context);
  const auto optional_input = [&](int i) {
    return context.has_input(i) ? widened<float>(context.input(i), context) : Tensor();
  };
  const Tensor decay = optional_input(kDecay), beta = optional_input(kBeta);
  const int64_t q_heads = context.attr_int("q_num_heads"), kv_heads = context.attr_int("kv_num_heads");
  const Geometry geometry{q.dim(0), q.dim(1), q_heads, kv_heads, q.dim(2) / q_heads, v.dim(2) / kv_heads};
  const int64_t state_size = geometry.key_size * geometry.value_size;

  Tensor state = context.has_input(kPastState)
                     ? widened<double>(context.input(kPastState), context)
                     : Tensor::zeros(DType::f64, {geometry.batch, kv_heads, geometry.key_size, geometry.value_size});
  if (context.has_input(kPastState) && context.input(kPastState).dtype() == DType::f64) state = state.clone();
  RoundedOutput<float> y(context.output(0));
  const float stated_scale = context.attr_float("scale", 0);
  float* y_data = y.data();
  double* state_data = state.mutable_data<double>();
  const double scale =
      stated_scale != 0 ? static_cast<double>(stated_scale) : 1 / std::sqrt(static_cast<double>(geometry.key_size));
  parallel_for(geometry.batch * kv_heads, 1, [&](int64_t first, int64_t last) {
    for (int64_t item = first; item < last; ++item) {
      const int64_t b = item / kv_heads, h = item % kv_heads, group = q_heads / kv_heads;
      HeadRun run{};
      const auto start = [&](const Tensor& tensor, int64_t offset) {
        return tensor.data<float>() + b * geometry.tokens * tensor.dim(2) + offset;
      };
      run.q = start(q, h * group * geometry.key_size);
      run.k = start(k, h * geometry.key_size);
      run.v = start(v, h * geometry.value_size);
      run.q_stride = q.dim(2), run.k_stride = k.dim(2), run.v_stride = v.dim(2);
      if (!decay.empty()) {
        run.decay_each_key = decay.dim(2) != kv_heads;
        run.decay = start(decay, run.decay_each_key ? h * geometry.key_size : h);
        run.decay_stride = decay.dim(2);
      }
      if (!beta.empty()) {
        run.beta = start(beta, beta.dim(2) == 1 ? 0 : h);
        run.beta_stride = beta.dim(2);
      }
      run.group = group;
      run.scale = scale;
      run.state = state_data + item * state_size;
      run.y = y_data + b * geometry.tokens * q_heads * geometry.value_size + h * group * geometry.value_size;
      run_head(run, geometry);
    }
  });
  y.store();
  if (context.wants_output(1)) store_rounded(state, context.output(1));
}

double linear_attention_flops(const CostContext& context) {
  const Dims v = context.input_dims(kValue);
  const int64_t kv_heads = context.attr_int("kv_num_heads", 1);
  if (v.size() != 3 || kv_heads < 1) return 0;
  // Every key meets every value of its head about twice (write, and read or correct), every query once.
  const double value_size = static_cast<double>(v[2]) / static_cast<double>(kv_heads);
  return 2 * value_size * (2 * context.input_elements(kKey) + context.input_elements(kQuery));
}

}  // namespace attune::attention
