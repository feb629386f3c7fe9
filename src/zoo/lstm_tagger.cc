// A tagger of words: embedding, two bidirectional LSTM layers and a linear layer, as PyTorch exports nn.LSTM.
#include "zoo/arguments.h"
#include "zoo/builder.h"
#include "zoo/models.h"

#include <cmath>

namespace attune::zoo {
namespace {

constexpr int64_t kVocabulary = 10'000;
constexpr int64_t kEmbedding = 128;
constexpr int64_t kHidden = 256;
constexpr int64_t kDirections = 2;
constexpr int64_t kTags = 17;  // the universal parts of speech
constexpr int64_t kLongest = 1 << 16;

/// Uniform within ±1/sqrt(fan), PyTorch's default.
Init uniform_init(int64_t fan) {
  return {.deviation = 1 / std::sqrt(3.0 * static_cast<double>(fan)), .distribution = Distribution::uniform};
}

/// The state before the first word: directions x batch x hidden of zeros.
ValueId first_state(GraphBuilder& b, ValueId input_ids, const Dim& batch) {
  if (batch.is_known()) return b.literal(Tensor::zeros(DType::f32, {kDirections, batch.value(), kHidden}));
  const ValueId shape = b.concat({b.ints({kDirections}), b.size_of(input_ids, 0), b.ints({kHidden})}, 0);
  return b.op("ConstantOfShape", {shape}, {{"value", Tensor::zeros(DType::f32, {1})}});
}

/// sequence x batch x in → sequence x batch x (directions * hidden).
ValueId lstm_layer(GraphBuilder& b, ValueId x, int layer, int64_t in, ValueId state) {
  const Init init = uniform_init(kHidden);
  const ValueId weights = b.parameter(fmt::format("weight_ih_l{}", layer), {kDirections, 4 * kHidden, in}, init);
  const ValueId recurrence =
      b.parameter(fmt::format("weight_hh_l{}", layer), {kDirections, 4 * kHidden, kHidden}, init);
  const ValueId bias = b.parameter(fmt::format("bias_l{}", layer), {kDirections, 8 * kHidden}, init);
  const auto results = b.op("LSTM", {x, weights, recurrence, bias, kNoValue, state, state},
                            {{"direction", "bidirectional"}, {"hidden_size", kHidden}}, 3);
  return b.reshape(b.transpose(results[0], {0, 2, 1, 3}), {0, 0, -1});
}

}  // namespace

Graph build_recurrent_tagger(const Options& options) {
  const Dim batch = batch_dim(options);
  const Dim sequence = sequence_dim(options, "lstm_tagger", kLongest);
  GraphBuilder b("lstm_tagger", options.seed);
  const ValueId input_ids = b.input("input_ids", DType::i64, {batch, sequence});
  ValueId x = b.gather({b.parameter("embedding.weight", {kVocabulary, kEmbedding}, {}), input_ids}, 0);
  {
    const auto scope = b.scope("lstm");
    const ValueId state = first_state(b, input_ids, batch);
    x = b.transpose(x, {1, 0, 2});
    x = lstm_layer(b, x, 0, kEmbedding, state);
    x = lstm_layer(b, x, 1, kDirections * kHidden, state);
    x = b.transpose(x, {1, 0, 2});
  }
  const auto scope = b.scope("hidden2tag");
  const Init init = uniform_init(kDirections * kHidden);
  x = b.matmul({x, b.parameter("weight", {kDirections * kHidden, kTags}, init)});
  x = b.add({b.parameter("bias", {kTags}, init), x});
  b.output(x, "logits", DType::f32, {batch, sequence, kTags});
  return std::move(b).finish();
}

}  // namespace attune::zoo
