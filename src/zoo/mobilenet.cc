// MobileNetV2 (Sandler et al., 2018) of width 1.0 as in torchvision.
#include "zoo/arguments.h"
#include "zoo/layers.h"
#include "zoo/models.h"

namespace attune::zoo {
namespace {

constexpr double kBranchGain = 0.7;  // of branches that are added to their input

/// Convolution, normalisation and ReLU6 as the modules "<name>.0", "<name>.1" and "<name>.2".
Feature conv_bn_relu6(GraphBuilder& b, const std::string& name, Feature x, const ConvSpec& spec) {
  return relu6(b, batch_norm(b, name + ".1", conv(b, name + ".0", x, spec)));
}

Feature inverted_residual(GraphBuilder& b, Feature x, int64_t expand, int64_t out, int64_t stride) {
  const int64_t hidden = x.channels * expand;
  const bool added = stride == 1 && x.channels == out;
  Feature y = x;
  int module = 0;
  const auto next = [&module] { return fmt::format("conv.{}", module++); };
  if (expand != 1) y = conv_bn_relu6(b, next(), y, {.out = hidden});
  y = conv_bn_relu6(b, next(), y, {.out = hidden, .kernel = 3, .stride = stride, .groups = hidden});
  y = conv(b, next(), y, {.out = out});
  y = batch_norm(b, next(), y, added ? kBranchGain : 1);
  if (added) y = {b.add({x.value, y.value}), out, x.power + y.power};
  return y;
}

struct Stage {
  int64_t expand, out;
  int repeats;
  int64_t stride;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

}  // namespace

Graph build_mobilenetv2(const Options& options) {
  const Dim batch = batch_dim(options);
  const int64_t size = image_size(options, "mobilenetv2", {.own = 224});
  GraphBuilder b("mobilenetv2", options.seed);
  Feature x{b.input("input", DType::f32, {batch, 3, size, size}), 3};
  x = conv_bn_relu6(b, "features.0", x, {.out = 32, .kernel = 3, .stride = 2});
  int module = 1;
  for (const Stage& stage : kStages)
    for (int i = 0; i < stage.repeats; ++i) {
      const auto scope = b.scope(fmt::format("features.{}", module++));
      x = inverted_residual(b, x, stage.expand, stage.out, i == 0 ? stage.stride : 1);
    }
  x = conv_bn_relu6(b, "features.18", x, {.out = 1280});
  x.value = b.op("Flatten", {b.op("GlobalAveragePool", {x.value})}, {{"axis", int64_t{1}}});
  x = linear(b, "classifier.1", x, 1000);
  b.output(x.value, "output", DType::f32, {batch, 1000});
  return std::move(b).finish();
}

}  // namespace attune::zoo
