// BERT-base (Devlin et al., 2018) as Hugging Face's BertModel exports it.
#include "zoo/arguments.h"
#include "zoo/models.h"
#include "zoo/transformer.h"

#include <numeric>

namespace attune::zoo {
namespace {

constexpr int64_t kVocabulary = 30'522;
constexpr int64_t kPositions = 512;
constexpr int64_t kTypes = 2;
constexpr int64_t kWidth = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int64_t kInner = 4 * kWidth;
constexpr int kLayers = 12;
constexpr float kEpsilon = 1e-12F;

/// The numbers of the positions, 1 x sequence; a slice of the buffer when the sequence is symbolic.
ValueId position_ids(GraphBuilder& b, ValueId input_ids, const Dim& sequence) {
  std::vector<int64_t> ids(static_cast<size_t>(sequence.is_known() ? sequence.value() : kPositions));
  std::iota(ids.begin(), ids.end(), 0);
  const auto count = static_cast<int64_t>(ids.size());
  const ValueId buffer = b.named("position_ids", Tensor::from<int64_t>({1, count}, ids));
  if (sequence.is_known()) return buffer;
  return b.op("Slice", {buffer, b.ints({0}), b.size_of(input_ids, 1), b.ints({1}), b.ints({1})});
}

ValueId embedding(GraphBuilder& b, std::string_view module, int64_t rows, ValueId ids) {
  const auto scope = b.scope(module);
  return b.gather({b.parameter("weight", {rows, kWidth}, {.deviation = kTransformerDeviation}), ids}, 0);
}

ValueId embeddings(GraphBuilder& b, ValueId input_ids, ValueId token_type_ids, const Dim& sequence) {
  const auto scope = b.scope("embeddings");
  const ValueId words = embedding(b, "word_embeddings", kVocabulary, input_ids);
  const ValueId types = embedding(b, "token_type_embeddings", kTypes, token_type_ids);
  const ValueId positions = embedding(b, "position_embeddings", kPositions, position_ids(b, input_ids, sequence));
  return layer_norm(b, "LayerNorm", b.add({b.add({words, types}), positions}), kWidth, kEpsilon);
}

/// 0 where a token may be seen, a large negative number where not: batch x 1 x 1 x sequence.
ValueId score_mask(GraphBuilder& b, ValueId attention_mask) {
  ValueId mask = b.op("Unsqueeze", {attention_mask, b.ints({1})});
  mask = b.op("Unsqueeze", {mask, b.ints({2})});
  mask = b.op("Cast", {mask}, {{"to", int64_t{1}}});
  mask = b.op("Sub", {b.number(1), mask});
  return b.mul({mask, b.number(kMaskedScore)});
}

ValueId heads(GraphBuilder& b, ValueId x, std::vector<int64_t> order) {
  return b.transpose(b.reshape(x, {0, 0, kHeads, kHeadWidth}), std::move(order));
}

ValueId self_attention(GraphBuilder& b, ValueId x, ValueId mask) {
  const auto scope = b.scope("self");
  const ValueId query = heads(b, dense(b, "query", x, kWidth, kWidth), {0, 2, 1, 3});
  const ValueId key = heads(b, dense(b, "key", x, kWidth, kWidth), {0, 2, 3, 1});
  const ValueId value = heads(b, dense(b, "value", x, kWidth, kWidth), {0, 2, 1, 3});
  const ValueId scores = b.op("Div", {b.matmul({query, key}), b.number(8)});  // sqrt(kHeadWidth)
  const ValueId context = b.matmul({b.softmax(b.add({scores, mask})), value});
  return b.reshape(b.transpose(context, {0, 2, 1, 3}), {0, 0, kWidth});
}

/// Projection, residual and normalisation.
ValueId sublayer_output(GraphBuilder& b, std::string_view module, ValueId x, int64_t width, ValueId residual) {
  const auto scope = b.scope(module);
  return layer_norm(b, "LayerNorm", b.add({dense(b, "dense", x, width, kWidth), residual}), kWidth, kEpsilon);
}

ValueId encoder_layer(GraphBuilder& b, ValueId x, ValueId mask) {
  {
    const auto scope = b.scope("attention");
    x = sublayer_output(b, "output", self_attention(b, x, mask), kWidth, x);
  }
  ValueId inner = kNoValue;
  {
    const auto scope = b.scope("intermediate");
    inner = gelu_erf(b, dense(b, "dense", x, kWidth, kInner));
  }
  return sublayer_output(b, "output", inner, kInner, x);
}

ValueId pooler(GraphBuilder& b, ValueId x) {
  const auto scope = b.scope("pooler");
  return b.op("Tanh", {dense_2d(b, "dense", b.gather({x, b.index(0)}, 1), kWidth, kWidth)});
}

}  // namespace

Graph build_bert_base(const Options& options) {
  const Dim batch = batch_dim(options);
  const Dim sequence = sequence_dim(options, "bert_base", kPositions);
  GraphBuilder b("bert_base", options.seed);
  const ValueId input_ids = b.input("input_ids", DType::i64, {batch, sequence});
  const ValueId attention_mask = b.input("attention_mask", DType::i64, {batch, sequence});
  const ValueId token_type_ids = b.input("token_type_ids", DType::i64, {batch, sequence});
  const ValueId mask = score_mask(b, attention_mask);
  ValueId x = embeddings(b, input_ids, token_type_ids, sequence);
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto scope = b.scope(fmt::format("encoder.layer.{}", layer));
    x = encoder_layer(b, x, mask);
  }
  b.output(x, "last_hidden_state", DType::f32, {batch, sequence, kWidth});
  b.output(pooler(b, x), "pooler_output", DType::f32, {batch, kWidth});
  return std::move(b).finish();
}

}  // namespace attune::zoo
