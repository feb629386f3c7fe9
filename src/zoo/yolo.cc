// YOLOv5s 6.x as Ultralytics exports it: batch normalisation is folded into the convolutions (whose published count of
// parameters is this model's), and the head decodes its maps to one list of boxes.
#include "zoo/arguments.h"
#include "zoo/layers.h"
#include "zoo/models.h"

#include <array>
#include <cmath>

namespace attune::zoo {
namespace {

constexpr int64_t kClasses = 80;
constexpr int64_t kOutputs = kClasses + 5;  // x, y, w, h, objectness, classes
constexpr int64_t kAnchors = 3;
constexpr std::array<int64_t, 3> kStrides{8, 16, 32};
constexpr float kAnchorSizes[3][kAnchors][2] = {
    {{10, 13}, {16, 30}, {33, 23}}, {{30, 61}, {62, 45}, {59, 119}}, {{116, 90}, {156, 198}, {373, 326}}};

// Nothing renormalises between sixty layers, and SiLU shrinks small signals more than large ones, so an error of scale
// would grow with depth. A quarter of each layer's power in its biases makes unit power an attracting fixed point
// (slope 0.86), and centred filters keep the part that depends on the input from dying out (slope 0.91).
constexpr double kBias = 0.5;
constexpr double kSiluVariance = 0.3131;  // of SiLU(z), z normal of unit variance

struct ConvShape {
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
};

Feature conv_silu(GraphBuilder& b, std::string_view module, Feature x, const ConvShape& shape) {
  const auto scope = b.scope(module);
  x = conv(b, "conv", x,
           {.out = shape.out,
            .kernel = shape.kernel,
            .stride = shape.stride,
            .padding = shape.kernel == 6 ? 2 : shape.kernel / 2,
            .bias = kBias,
            .filters = Filters::centred});
  return {b.mul({x.value, b.sigmoid(x.value)}), shape.out, kSiluVariance};
}

Feature joined(GraphBuilder& b, const std::vector<Feature>& parts) {
  std::vector<ValueId> values;
  Feature result;
  result.power = 0;
  for (const Feature& part : parts) {
    values.push_back(part.value);
    result.channels += part.channels;
    result.power += part.power * static_cast<double>(part.channels);
  }
  result.power /= static_cast<double>(result.channels);
  result.value = b.concat(values, 1);
  return result;
}

enum class Shortcut { none, add };

Feature bottleneck(GraphBuilder& b, Feature x, Shortcut shortcut) {
  Feature y = conv_silu(b, "cv1", x, {.out = x.channels});
  y = conv_silu(b, "cv2", y, {.out = x.channels, .kernel = 3});
  if (shortcut == Shortcut::add) y = {b.add({x.value, y.value}), x.channels, x.power + y.power};
  return y;
}

Feature c3(GraphBuilder& b, std::string_view module, Feature x, int64_t out, int repeats, Shortcut shortcut) {
  const auto scope = b.scope(module);
  Feature y = conv_silu(b, "cv1", x, {.out = out / 2});
  for (int i = 0; i < repeats; ++i) {
    const auto inner = b.scope(fmt::format("m.{}", i));
    y = bottleneck(b, y, shortcut);
  }
  const Feature bypass = conv_silu(b, "cv2", x, {.out = out / 2});
  return conv_silu(b, "cv3", joined(b, {y, bypass}), {.out = out});
}

Feature sppf(GraphBuilder& b, std::string_view module, Feature x, int64_t out) {
  const auto scope = b.scope(module);
  const PoolSpec window{.kernel = 5, .stride = 1, .padding = 2};
  std::vector<Feature> parts{conv_silu(b, "cv1", x, {.out = x.channels / 2})};
  while (parts.size() < 4) parts.push_back(max_pool(b, parts.back(), window));
  Feature all = joined(b, parts);
  all.power = 1.0;  // the means of the pooled parts differ from the first part's, which counts as variance
  return conv_silu(b, "cv2", all, {.out = out});
}

Feature upsampled(GraphBuilder& b, std::string_view module, Feature x) {
  const auto scope = b.scope(module);
  const float scales[] = {1, 1, 2, 2};
  x.value = b.op("Resize", {x.value, kNoValue, b.literal(Tensor::from<float>({4}, scales))},
                 {{"coordinate_transformation_mode", "asymmetric"}, {"mode", "nearest"}, {"nearest_mode", "floor"}});
  return x;
}

Feature joined_at(GraphBuilder& b, std::string_view module, const Feature& x, const Feature& y) {
  const auto scope = b.scope(module);
  return joined(b, {x, y});
}

/// The maps of stride 8, 16 and 32.
std::array<Feature, 3> features(GraphBuilder& b, Feature x) {
  x = conv_silu(b, "model.0", x, {.out = 32, .kernel = 6, .stride = 2});
  x = conv_silu(b, "model.1", x, {.out = 64, .kernel = 3, .stride = 2});
  x = c3(b, "model.2", x, 64, 1, Shortcut::add);
  x = conv_silu(b, "model.3", x, {.out = 128, .kernel = 3, .stride = 2});
  const Feature backbone8 = c3(b, "model.4", x, 128, 2, Shortcut::add);
  x = conv_silu(b, "model.5", backbone8, {.out = 256, .kernel = 3, .stride = 2});
  const Feature backbone16 = c3(b, "model.6", x, 256, 3, Shortcut::add);
  x = conv_silu(b, "model.7", backbone16, {.out = 512, .kernel = 3, .stride = 2});
  x = c3(b, "model.8", x, 512, 1, Shortcut::add);
  x = sppf(b, "model.9", x, 512);

  const Feature top32 = conv_silu(b, "model.10", x, {.out = 256});
  x = joined_at(b, "model.12", upsampled(b, "model.11", top32), backbone16);
  x = c3(b, "model.13", x, 256, 1, Shortcut::none);
  const Feature top16 = conv_silu(b, "model.14", x, {.out = 128});
  x = joined_at(b, "model.16", upsampled(b, "model.15", top16), backbone8);
  const Feature out8 = c3(b, "model.17", x, 128, 1, Shortcut::none);
  x = joined_at(b, "model.19", conv_silu(b, "model.18", out8, {.out = 128, .kernel = 3, .stride = 2}), top16);
  const Feature out16 = c3(b, "model.20", x, 256, 1, Shortcut::none);
  x = joined_at(b, "model.22", conv_silu(b, "model.21", out16, {.out = 256, .kernel = 3, .stride = 2}), top32);
  const Feature out32 = c3(b, "model.23", x, 512, 1, Shortcut::none);
  return {out8, out16, out32};
}

/// The cell's place, half a cell back, for each anchor: 1 x anchors x size x size x (x, y).
Tensor grid(int64_t size) {
  Tensor result = Tensor::allocate(DType::f32, {1, kAnchors, size, size, 2});
  auto* out = result.mutable_data<float>();
  for (int64_t anchor = 0; anchor < kAnchors; ++anchor)
    for (int64_t y = 0; y < size; ++y)
      for (int64_t x = 0; x < size; ++x) {
        *out++ = static_cast<float>(x) - 0.5F;
        *out++ = static_cast<float>(y) - 0.5F;
      }
  return result;
}

/// The anchor's width and height in every cell, laid out like grid().
Tensor anchor_grid(int64_t size, const float (&sizes)[kAnchors][2]) {
  Tensor result = Tensor::allocate(DType::f32, {1, kAnchors, size, size, 2});
  auto* out = result.mutable_data<float>();
  for (const auto& anchor : sizes)
    for (int64_t cell = 0; cell < size * size; ++cell) {
      *out++ = anchor[0];
      *out++ = anchor[1];
    }
  return result;
}

/// The last convolution: objectness and classes start low, as in a trained detector.
ValueId detect_conv(GraphBuilder& b, std::string_view module, Feature x) {
  const auto scope = b.scope(module);
  constexpr int64_t kOut = kAnchors * kOutputs;
  const double deviation = std::sqrt(1 / (static_cast<double>(x.channels) * x.power));
  const ValueId weight = b.parameter("weight", {kOut, x.channels, 1, 1}, {.deviation = deviation, .centred = true});
  Tensor bias = b.draw("bias", {kOut}, {.deviation = 0.1});
  auto* values = bias.mutable_data<float>();
  for (int64_t i = 0; i < kOut; ++i)
    if (i % kOutputs >= 4) values[i] -= 2;
  return b.op("Conv", {x.value, weight, b.named("bias", bias)},
              {{"dilations", std::vector<int64_t>{1, 1}},
               {"group", int64_t{1}},
               {"kernel_shape", std::vector<int64_t>{1, 1}},
               {"pads", std::vector<int64_t>{0, 0, 0, 0}},
               {"strides", std::vector<int64_t>{1, 1}}});
}

ValueId decoded(GraphBuilder& b, ValueId map, size_t level, int64_t size, const Dim& batch) {
  const int64_t n = reshape_dim(batch);
  map = b.transpose(b.reshape(map, {n, kAnchors, kOutputs, size, size}), {0, 1, 3, 4, 2});
  const auto parts = b.split(b.sigmoid(map), {2, 2, kClasses + 1}, 4);
  const ValueId cell = b.add({b.mul({parts[0], b.number(2)}), b.literal(grid(size))});
  const ValueId centre = b.mul({cell, b.number(static_cast<float>(kStrides[level]))});
  const ValueId scale = b.op("Pow", {b.mul({parts[1], b.number(2)}), b.number(2)});
  const ValueId extent = b.mul({scale, b.literal(anchor_grid(size, kAnchorSizes[level]))});
  return b.reshape(b.concat({centre, extent, parts[2]}, 4), {n, kAnchors * size * size, kOutputs});
}

}  // namespace

Graph build_yolov5s(const Options& options) {
  const Dim batch = batch_dim(options);
  const int64_t size = image_size(options, "yolov5s", {.own = 640, .smallest = 64, .step = 32});
  GraphBuilder b("yolov5s", options.seed);
  constexpr double kPixelVariance = 1.0 / 12;  // pixels lie in [0, 1]
  const auto maps = features(b, {b.input("images", DType::f32, {batch, 3, size, size}), 3, kPixelVariance});
  const auto scope = b.scope("model.24");
  std::vector<ValueId> boxes;
  int64_t count = 0;
  for (size_t level = 0; level < maps.size(); ++level) {
    const int64_t side = size / kStrides[level];
    const ValueId map = detect_conv(b, fmt::format("m.{}", level), maps[level]);
    boxes.push_back(decoded(b, map, level, side, batch));
    count += kAnchors * side * side;
  }
  b.output(b.concat(boxes, 1), "output0", DType::f32, {batch, count, kOutputs});
  return std::move(b).finish();
}

}  // namespace attune::zoo
