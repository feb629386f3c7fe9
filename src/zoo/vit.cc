// ViT-B/16 (Dosovitskiy et al., 2020) as torchvision exports it: attention runs with the sequence first, on queries,
// keys and values from one packed projection.
#include "zoo/arguments.h"
#include "zoo/models.h"
#include "zoo/transformer.h"

#include <cmath>

namespace attune::zoo {
namespace {

constexpr int64_t kPatch = 16;
constexpr int64_t kWidth = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kHeadWidth = kWidth / kHeads;
constexpr int64_t kInner = 4 * kWidth;
constexpr int64_t kClasses = 1000;
constexpr int kLayers = 12;
constexpr float kEpsilon = 1e-6F;
constexpr Init kWeight{.deviation = kTransformerDeviation};

/// batch x patches x width.
ValueId patches(GraphBuilder& b, ValueId image, int64_t count, const Dim& batch) {
  ValueId x = kNoValue;
  {
    const auto scope = b.scope("conv_proj");
    const double deviation = std::sqrt(1.0 / (3 * kPatch * kPatch));
    const ValueId weight = b.parameter("weight", {kWidth, 3, kPatch, kPatch}, {.deviation = deviation});
    x = b.op("Conv", {image, weight, b.parameter("bias", {kWidth}, kWeight)},
             {{"dilations", std::vector<int64_t>{1, 1}},
              {"group", int64_t{1}},
              {"kernel_shape", std::vector<int64_t>{kPatch, kPatch}},
              {"pads", std::vector<int64_t>{0, 0, 0, 0}},
              {"strides", std::vector<int64_t>{kPatch, kPatch}}});
  }
  return b.transpose(b.reshape(x, {reshape_dim(batch), kWidth, count}), {0, 2, 1});
}

ValueId class_token(GraphBuilder& b, ValueId image, const Dim& batch) {
  const ValueId token = b.parameter("class_token", {1, 1, kWidth}, kWeight);
  const ValueId shape =
      batch.is_known() ? b.ints({batch.value(), 1, kWidth}) : b.concat({b.size_of(image, 0), b.ints({1, kWidth})}, 0);
  return b.op("Expand", {token, shape});
}

ValueId attention(GraphBuilder& b, ValueId x, int64_t tokens, const Dim& batch) {
  const auto scope = b.scope("self_attention");
  const int64_t n = reshape_dim(batch);
  x = b.transpose(x, {1, 0, 2});
  x = b.matmul({x, b.parameter("in_proj_weight", {kWidth, 3 * kWidth}, kWeight)});
  x = b.add({x, b.parameter("in_proj_bias", {3 * kWidth}, kWeight)});
  x = b.op("Unsqueeze", {b.reshape(x, {tokens, n, 3, kWidth}), b.ints({0})});
  x = b.op("Squeeze", {b.transpose(x, {3, 1, 2, 0, 4}), b.ints({3})});  // 3 x tokens x batch x width
  const auto heads = [&](int64_t part) {
    const int64_t all_heads = batch.is_known() ? batch.value() * kHeads : -1;
    const ValueId rows = b.reshape(b.gather({x, b.index(part)}, 0), {tokens, all_heads, kHeadWidth});
    return b.reshape(b.transpose(rows, {1, 0, 2}), {n, kHeads, tokens, kHeadWidth});
  };
  const ValueId query = heads(0);
  const ValueId key = heads(1);
  const ValueId value = heads(2);
  // The scale 1/sqrt(kHeadWidth) is shared out between both factors.
  const ValueId scale = b.number(std::sqrt(0.125F));
  const ValueId scores = b.matmul({b.mul({query, scale}), b.mul({b.transpose(key, {0, 1, 3, 2}), scale})});
  ValueId context = b.transpose(b.matmul({b.softmax(scores), value}), {2, 0, 1, 3});
  const int64_t rows = batch.is_known() ? batch.value() * tokens : -1;
  context = dense_2d(b, "out_proj", b.reshape(context, {rows, kWidth}), kWidth, kWidth);
  return b.transpose(b.reshape(context, {tokens, n, kWidth}), {1, 0, 2});
}

ValueId feed_forward(GraphBuilder& b, ValueId x) {
  const auto scope = b.scope("mlp");
  return dense(b, "3", gelu_erf(b, dense(b, "0", x, kWidth, kInner)), kInner, kWidth);
}

ValueId encoder(GraphBuilder& b, ValueId x, int64_t tokens, const Dim& batch) {
  const auto scope = b.scope("encoder");
  x = b.add({x, b.parameter("pos_embedding", {1, tokens, kWidth}, kWeight)});
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto inner = b.scope(fmt::format("layers.encoder_layer_{}", layer));
    x = b.add({attention(b, layer_norm(b, "ln_1", x, kWidth, kEpsilon), tokens, batch), x});
    x = b.add({x, feed_forward(b, layer_norm(b, "ln_2", x, kWidth, kEpsilon))});
  }
  return layer_norm(b, "ln", x, kWidth, kEpsilon);
}

}  // namespace

Graph build_vit_b16(const Options& options) {
  const Dim batch = batch_dim(options);
  const int64_t size = image_size(options, "vit_b16", {.own = 224, .smallest = kPatch, .step = kPatch});
  const int64_t count = (size / kPatch) * (size / kPatch);
  GraphBuilder b("vit_b16", options.seed);
  const ValueId image = b.input("input", DType::f32, {batch, 3, size, size});
  const ValueId patch_tokens = patches(b, image, count, batch);
  ValueId x = b.concat({class_token(b, image, batch), patch_tokens}, 1);
  x = encoder(b, x, count + 1, batch);
  x = dense_2d(b, "heads.head", b.gather({x, b.index(0)}, 1), kWidth, kClasses);
  b.output(x, "output", DType::f32, {batch, kClasses});
  return std::move(b).finish();
}

}  // namespace attune::zoo
