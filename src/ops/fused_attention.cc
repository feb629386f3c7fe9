// attune::FusedAttention(Q, K, V, mask?): softmax(scale * Q K^T, masked) V for each head, as rewriting makes it of
// products, masks, softmax and transposes. Operands lie as projections leave them, so that no head is moved: Q, K and V
// may be columns of one tensor.
//
// The result has four axes: batch, sequence, heads and size, in the order that the last of `layouts` names. A mask of
// floats is added to the scores, a mask of bools and `causal` put `fill` in their place; `causal` comes first. As in a
// softmax spelled out, a query whose scores are all -infinity gives NaN.
#include "ops/fused_attention.h"

#include "base/parallel.h"
#include "ops/families.h"
#include "ops/infer_parts.h"
#include "ops/widen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace attune {
namespace {

constexpr std::array<std::string_view, 3> kOrderNames = {"bsh", "sbh", "bhs"};

HeadOrder parse_order(const OpContext& context, const std::string& name) {
  const auto found = std::find(kOrderNames.begin(), kOrderNames.end(), name);
  if (found == kOrderNames.end()) context.fail("layout '{}' is none of bsh, sbh and bhs", name);
  return static_cast<HeadOrder>(found - kOrderNames.begin());
}

struct Axes {
  size_t batch, row;
  std::optional<size_t> head;  // nothing: heads are columns of the last axis
};

Axes axes_of(HeadOrder order, size_t rank) {
  if (order == HeadOrder::batch_heads_rows) return {0, 2, 1};
  const bool batch_first = order == HeadOrder::batch_rows_heads;
  return {batch_first ? 0u : 1u, batch_first ? 1u : 0u, rank == 4 ? std::optional<size_t>(2) : std::nullopt};
}

void check_rank(const OpContext& context, HeadOrder order, size_t rank, size_t operand) {
  if (rank == 4 || (rank == 3 && order != HeadOrder::batch_heads_rows)) return;
  context.fail("input {} has rank {}, which layout '{}' has no place for", operand, rank, head_order_name(order));
}

Shape result_shape(const AttentionAttributes& attributes, const Dim& batch, const Dim& rows) {
  const Dim heads = attributes.heads, size = attributes.value_size;
  switch (attributes.orders[AttentionAttributes::kResult]) {
    case HeadOrder::rows_batch_heads: return {rows, batch, heads, size};
    case HeadOrder::batch_heads_rows: return {batch, heads, rows, size};
    default: return {batch, rows, heads, size};
  }
}

/// Batch and rows of an operand, when its rank is known; fails where heads and sizes do not fit.
std::optional<std::pair<Dim, Dim>> check_operand(InferContext& context, const AttentionAttributes& attributes,
                                                 size_t operand) {
  const auto& shape = context.shape(static_cast<int>(operand));
  if (!shape) return std::nullopt;
  const HeadOrder order = attributes.orders[operand];
  check_rank(context, order, shape->size(), operand);
  const Axes axes = axes_of(order, shape->size());
  const int64_t size = attributes.size_of(operand);
  const Dim& last = shape->back();
  if (!axes.head) {
    const int64_t end = attributes.columns[operand] + attributes.heads * size;
    if (last.is_known() && last.value() < end)
      context.fail("input {} has {} columns, and its heads end at {}", operand, last.value(), end);
  } else {
    merged_dim((*shape)[*axes.head], Dim(attributes.heads), context);
    merged_dim(last, Dim(size), context);
    if (attributes.columns[operand] != 0) context.fail("input {} has its heads in an axis of their own", operand);
  }
  return std::pair((*shape)[axes.batch], (*shape)[axes.row]);
}

void check_mask(InferContext& context, const AttentionAttributes& attributes, const Shape& scores) {
  constexpr int kMask = AttentionAttributes::kMask;
  if (context.dtype(kMask) == DType::boolean) {
    if (!attributes.fill) context.fail("a mask of bools needs attribute 'fill'");
  } else if (context.dtype(kMask) != context.dtype(0)) {
    context.fail("the mask is {}, expected bool or {}", dtype_name(context.dtype(kMask)), dtype_name(context.dtype(0)));
  }
  const auto& mask = context.shape(kMask);
  if (!mask) return;
  if (mask->size() > scores.size()) context.fail("the mask has rank {}, expected at most 4", mask->size());
  for (size_t i = 0; i < mask->size(); ++i) {
    const Dim &own = (*mask)[mask->size() - 1 - i], &full = scores[scores.size() - 1 - i];
    if (own.is_known() && full.is_known() && own.value() != 1 && own.value() != full.value())
      context.fail("the mask {} does not broadcast to {}", to_text(*mask), to_text(scores));
  }
}

void infer(InferContext& context) {
  const AttentionAttributes attributes(context);
  for (int i = 0; i < 3; ++i)
    if (context.dtype(i) != context.dtype(0)) context.fail("Q, K and V differ in element type");
  const auto q = check_operand(context, attributes, AttentionAttributes::kQuery);
  const auto k = check_operand(context, attributes, AttentionAttributes::kKey);
  const auto v = check_operand(context, attributes, AttentionAttributes::kValue);
  Dim batch, keys;
  if (q) batch = q->first;
  for (const auto& other : {k, v})
    if (other) batch = batch.is_unknown() ? other->first : merged_dim(batch, other->first, context);
  if (k) keys = v ? merged_dim(k->second, v->second, context) : k->second;
  const Dim rows = q ? q->second : Dim();
  if (context.has_input(AttentionAttributes::kMask))
    check_mask(context, attributes, {batch, Dim(attributes.heads), rows, keys});
  context.set_output(0, context.dtype(0), result_shape(attributes, batch, rows));
}

HeadStrides strides_of(const AttentionAttributes& attributes, size_t operand, const Dims& dims) {
  const Axes axes = axes_of(attributes.orders[operand], dims.size());
  const Dims strides = row_major_strides(dims);
  HeadStrides result;
  result.batch = strides[axes.batch];
  result.row = strides[axes.row];
  result.head = axes.head ? strides[*axes.head] : attributes.size_of(operand);
  result.offset = axes.head ? 0 : attributes.columns[operand];
  return result;
}

template <class C> void attend_typed(KernelContext& context, const AttentionProblem& problem) {
  const AttentionAttributes& attributes = problem.attributes;
  const Tensor q = widened<C>(context.input(0), context), k = widened<C>(context.input(1), context),
               v = widened<C>(context.input(2), context);
  const bool has_mask = context.has_input(AttentionAttributes::kMask);
  const bool bools = has_mask && context.input(AttentionAttributes::kMask).dtype() == DType::boolean;
  const Tensor added = has_mask && !bools ? widened<C>(context.input(AttentionAttributes::kMask), context) : Tensor();
  const bool* visible = bools ? context.input(AttentionAttributes::kMask).data<bool>() : nullptr;
  RoundedOutput<C> y(context.output(0));

  const auto attend = [&](int64_t b, int64_t h, int64_t i, std::vector<double>& scores) {
    const C* query = q.data<C>() + problem.q.at(b, h, i);
    for (int64_t j = 0; j < problem.keys; ++j) {
      const C* key = k.data<C>() + problem.k.at(b, h, j);
      double sum = 0;
      for (int64_t d = 0; d < attributes.head_size; ++d)
        sum += static_cast<double>(query[d]) * static_cast<double>(key[d]);
      double score = static_cast<double>(attributes.scale) * sum;
      if (j >= problem.first_visible() + i && attributes.causal) score = static_cast<double>(*attributes.fill);
      const MaskStrides& mask = problem.mask;
      const int64_t at = b * mask.batch + h * mask.head + i * mask.row + j * mask.column;
      if (visible && visible[at] != attributes.true_is_visible) score = static_cast<double>(*attributes.fill);
      if (has_mask && !bools) score += static_cast<double>(added.data<C>()[at]);
      scores[static_cast<size_t>(j)] = score;
    }
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (const double score : scores) largest = score > largest ? score : largest;
    for (double& score : scores) {
      score = std::exp(score - largest);
      total += score;
    }
    C* result = y.data() + problem.y.at(b, h, i);
    for (int64_t d = 0; d < attributes.value_size; ++d) {
      double sum = 0;
      for (int64_t j = 0; j < problem.keys; ++j)
        sum += scores[static_cast<size_t>(j)] * static_cast<double>(v.data<C>()[problem.v.at(b, h, j) + d]);
      result[d] = static_cast<C>(problem.keys == 0 ? 0 : sum / total);
    }
  };
  const int64_t work = 1 + problem.keys * (attributes.head_size + attributes.value_size);
  parallel_for(problem.batch * attributes.heads * problem.queries, 1 + 16 * 1024 / work,
               [&](int64_t begin, int64_t end) {
                 std::vector<double> scores(static_cast<size_t>(problem.keys));
                 for (int64_t at = begin; at < end; ++at)
                   attend(at / problem.queries / attributes.heads, at / problem.queries % attributes.heads,
                          at % problem.queries, scores);
               });
  y.store();
}

void run(KernelContext& context) {
  if (context.output(0).count() == 0) return;
  const Dims* mask = context.has_input(AttentionAttributes::kMask) ? &context.input(3).dims() : nullptr;
  const AttentionProblem problem(context, context.input(0).dims(), context.input(1).dims(), context.input(2).dims(),
                                 mask);
  dispatch_compute(context.input(0).dtype(), context, [&]<class C>() { attend_typed<C>(context, problem); });
}

/// What is hidden by position need not be computed.
double flops(const CostContext& context) {
  const Dims q = context.input_dims(0), k = context.input_dims(1), v = context.input_dims(2);
  if (q.empty() || k.empty() || v.empty()) return 0;
  const AttentionProblem problem(context, q, k, v, nullptr);
  double pairs = 0;
  for (int64_t i = 0; i < problem.queries; ++i)
    pairs += static_cast<double>(
        std::clamp<int64_t>(problem.attributes.causal ? problem.first_visible() + i : problem.keys, 0, problem.keys));
  const AttentionAttributes& attributes = problem.attributes;
  return 2 * pairs * static_cast<double>(problem.batch * attributes.heads) *
         static_cast<double>(attributes.head_size + attributes.value_size);
}

const OpDef kOps[] = {{.domain = "attune",
                       .name = "FusedAttention",
                       .since = 1,
                       .inputs = {3, 4},
                       .outputs = {1, 1},
                       .layout_class = LayoutClass::decides_function,
                       .infer = infer,
                       .kernel = run,
                       .flops = flops}};

}  // namespace

std::string_view head_order_name(HeadOrder order) { return kOrderNames[static_cast<size_t>(order)]; }

AttentionAttributes::AttentionAttributes(const OpContext& context)
    : heads(context.attr_int("heads")),
      head_size(context.attr_int("head_size")),
      value_size(context.attr_int("value_size", head_size)),
      scale(context.attr_float("scale", 1.0F)),
      columns(context.attr_ints("columns", {0, 0, 0})),
      causal(context.attr_int("causal", 0) != 0),
      true_is_visible(context.attr_int("true_is_visible", 1) != 0) {
  if (heads < 1 || head_size < 1 || value_size < 1)
    context.fail("{} heads of sizes {} and {}", heads, head_size, value_size);
  constexpr int64_t kMost = int64_t{1} << 30;
  if (heads > kMost || head_size > kMost || value_size > kMost) context.fail("heads or their sizes are too large");
  if (context.has_attr("fill")) fill = context.attr_float("fill");
  if (causal && !fill) context.fail("'causal' needs attribute 'fill'");
  const std::vector<std::string> names =
      context.has_attr("layouts") ? context.attr_strings("layouts") : std::vector<std::string>(4, "bsh");
  if (names.size() != 4)
    context.fail("'layouts' has {} entries, expected those of Q, K, V and the result", names.size());
  for (const std::string& name : names) orders.push_back(parse_order(context, name));
  if (columns.size() != 3) context.fail("'columns' has {} entries, expected those of Q, K and V", columns.size());
  for (const int64_t column : columns)
    if (column < 0 || column > kMost) context.fail("'columns' has {}", column);
}

AttentionProblem::AttentionProblem(const OpContext& context, const Dims& q_dims, const Dims& k_dims, const Dims& v_dims,
                                   const Dims* mask_dims)
    : attributes(context) {
  const Axes axes = axes_of(attributes.orders[0], q_dims.size());
  batch = q_dims[axes.batch];
  queries = q_dims[axes.row];
  keys = k_dims[axes_of(attributes.orders[1], k_dims.size()).row];
  q = strides_of(attributes, AttentionAttributes::kQuery, q_dims);
  k = strides_of(attributes, AttentionAttributes::kKey, k_dims);
  v = strides_of(attributes, AttentionAttributes::kValue, v_dims);
  y = strides_of(attributes, AttentionAttributes::kResult, concrete(result_shape(attributes, batch, queries)).value());
  if (mask_dims == nullptr) return;
  const Dims strides = row_major_strides(*mask_dims);
  int64_t* const targets[] = {&mask.column, &mask.row, &mask.head, &mask.batch};
  for (size_t i = 0; i < mask_dims->size(); ++i) {
    const size_t axis = mask_dims->size() - 1 - i;
    *targets[i] = (*mask_dims)[axis] == 1 ? 0 : strides[axis];
  }
}

std::span<const OpDef> fused_attention_ops() { return kOps; }

}  // namespace attune
