// GPT-2 small (Radford et al., 2019) as Hugging Face's GPT2LMHeadModel exports it. The head reads the embedding table,
// which is stored once.
#include "zoo/arguments.h"
#include "zoo/models.h"
#include "zoo/transformer.h"

#include <cmath>
#include <numeric>

namespace attune::zoo {
namespace {

constexpr int64_t kVocabulary = 50'257;
constexpr int64_t kPositions = 1024;
constexpr int64_t kWidth = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int64_t kInner = 4 * kWidth;
constexpr int kLayers = 12;
constexpr float kEpsilon = 1e-5F;

struct Sizes {
  Dim batch, sequence;
};

/// The target of a Reshape: batch and sequence of `like`, then `tail`. Computed from the shape of `like` where they are
/// symbolic, as exporters do.
ValueId leading_shape(GraphBuilder& b, ValueId like, const Sizes& sizes, std::vector<int64_t> tail) {
  if (sizes.batch.is_known() && sizes.sequence.is_known()) {
    tail.insert(tail.begin(), {sizes.batch.value(), sizes.sequence.value()});
    return b.literal(Tensor::vector(tail));
  }
  const auto size = [&](const Dim& dim, int64_t axis) {
    return dim.is_known() ? b.ints({dim.value()}) : b.size_of(like, axis);
  };
  const ValueId batch = size(sizes.batch, 0);
  const ValueId sequence = size(sizes.sequence, 1);
  return b.concat({batch, sequence, b.literal(Tensor::vector(tail))}, 0);
}

/// Hugging Face's Conv1D: a Gemm on the flattened tokens with weights [in, out].
ValueId conv1d(GraphBuilder& b, std::string_view module, ValueId x, int64_t in, int64_t out, const Sizes& sizes,
               double deviation) {
  const auto scope = b.scope(module);
  const ValueId shape = leading_shape(b, x, sizes, {out});
  const ValueId weight = b.parameter("weight", {in, out}, {.deviation = deviation});
  const ValueId bias = b.parameter("bias", {out}, {.deviation = kTransformerDeviation});
  const ValueId product = b.op("Gemm", {b.reshape(x, {-1, in}), weight, bias}, {{"alpha", 1.0F}, {"beta", 1.0F}});
  return b.op("Reshape", {product, shape});
}

ValueId position_ids(GraphBuilder& b, ValueId input_ids, const Dim& sequence) {
  if (sequence.is_known()) {
    std::vector<int64_t> ids(static_cast<size_t>(sequence.value()));
    std::iota(ids.begin(), ids.end(), 0);
    return b.literal(Tensor::from<int64_t>({1, sequence.value()}, ids));
  }
  const ValueId count = b.gather({b.op("Shape", {input_ids}), b.index(1)}, 0);
  return b.op("Unsqueeze", {b.op("Range", {b.index(0), count, b.index(1)}), b.ints({0})});
}

/// Which tokens each token may see: 1 x 1 x sequence x sequence, itself and those before it.
ValueId causal_mask(GraphBuilder& b, ValueId input_ids, const Dim& sequence) {
  const int64_t size = sequence.is_known() ? sequence.value() : kPositions;
  Tensor lower = Tensor::allocate(DType::boolean, {1, 1, size, size});
  auto* out = lower.mutable_data<bool>();
  for (int64_t row = 0; row < size; ++row)
    for (int64_t column = 0; column < size; ++column) *out++ = column <= row;
  const ValueId mask = b.named("attn.bias", lower);
  if (sequence.is_known()) return mask;
  const ValueId length = b.size_of(input_ids, 1);
  const ValueId rows = b.op("Slice", {mask, b.ints({0}), length, b.ints({2}), b.ints({1})});
  return b.op("Slice", {rows, b.ints({0}), length, b.ints({3}), b.ints({1})});
}

// Projections that are added to the trunk are scaled down by the number of additions.
double residual_deviation() { return kTransformerDeviation / std::sqrt(2.0 * kLayers); }

ValueId attention(GraphBuilder& b, ValueId x, ValueId mask, const Sizes& sizes) {
  const auto scope = b.scope("attn");
  const ValueId packed = conv1d(b, "c_attn", x, kWidth, 3 * kWidth, sizes, kTransformerDeviation);
  const auto parts = b.split(packed, {kWidth, kWidth, kWidth}, 2);
  const auto heads = [&](ValueId part, std::vector<int64_t> order) {
    const ValueId shape = leading_shape(b, part, sizes, {kHeads, kHeadWidth});
    return b.transpose(b.op("Reshape", {part, shape}), std::move(order));
  };
  const ValueId query = heads(parts[0], {0, 2, 1, 3});
  const ValueId key = heads(parts[1], {0, 2, 3, 1});
  const ValueId value = heads(parts[2], {0, 2, 1, 3});
  const ValueId scores = b.op("Div", {b.matmul({query, key}), b.number(8)});  // sqrt(kHeadWidth)
  const ValueId masked = b.op("Where", {mask, scores, b.number(kMaskedScore)});
  const ValueId context = b.transpose(b.matmul({b.softmax(masked), value}), {0, 2, 1, 3});
  const ValueId merged = b.op("Reshape", {context, leading_shape(b, context, sizes, {kWidth})});
  return conv1d(b, "c_proj", merged, kWidth, kWidth, sizes, residual_deviation());
}

ValueId feed_forward(GraphBuilder& b, ValueId x, const Sizes& sizes) {
  const auto scope = b.scope("mlp");
  x = gelu_tanh(b, conv1d(b, "c_fc", x, kWidth, kInner, sizes, kTransformerDeviation));
  return conv1d(b, "c_proj", x, kInner, kWidth, sizes, residual_deviation());
}

}  // namespace

Graph build_gpt2(const Options& options) {
  const Sizes sizes{batch_dim(options), sequence_dim(options, "gpt2", kPositions)};
  GraphBuilder b("gpt2", options.seed);
  const ValueId input_ids = b.input("input_ids", DType::i64, {sizes.batch, sizes.sequence});
  ValueId table = kNoValue, x = kNoValue;
  {
    const auto scope = b.scope("transformer");
    table = b.parameter("wte.weight", {kVocabulary, kWidth}, {.deviation = kTransformerDeviation});
    const ValueId places = b.parameter("wpe.weight", {kPositions, kWidth}, {.deviation = 0.01});
    x = b.add({b.gather({table, input_ids}, 0), b.gather({places, position_ids(b, input_ids, sizes.sequence)}, 0)});
    const ValueId mask = causal_mask(b, input_ids, sizes.sequence);
    for (int layer = 0; layer < kLayers; ++layer) {
      const auto inner = b.scope(fmt::format("h.{}", layer));
      x = b.add({attention(b, layer_norm(b, "ln_1", x, kWidth, kEpsilon), mask, sizes), x});
      x = b.add({x, feed_forward(b, layer_norm(b, "ln_2", x, kWidth, kEpsilon), sizes)});
    }
    x = layer_norm(b, "ln_f", x, kWidth, kEpsilon);
  }
  const auto scope = b.scope("lm_head");
  b.output(b.matmul({x, b.transpose(table, {1, 0})}), "logits", DType::f32, {sizes.batch, sizes.sequence, kVocabulary});
  return std::move(b).finish();
}

}  // namespace attune::zoo
