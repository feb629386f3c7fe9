// ResNet-18 and ResNet-50 (He et al., 2015) as in torchvision: the stride of a bottleneck lies in its 3x3 convolution.
#include "zoo/arguments.h"
#include "zoo/layers.h"
#include "zoo/models.h"

#include <array>

namespace attune::zoo {
namespace {

constexpr double kBranchGain = 0.5;  // a branch below the trunk keeps sixteen additions from growing the sum

enum class Block { basic, bottleneck };

Feature branch(GraphBuilder& b, Feature x, Block block, int64_t width, int64_t stride) {
  if (block == Block::basic) {
    x = relu(b, batch_norm(b, "bn1", conv(b, "conv1", x, {.out = width, .kernel = 3, .stride = stride})));
    return batch_norm(b, "bn2", conv(b, "conv2", x, {.out = width, .kernel = 3}), kBranchGain);
  }
  x = relu(b, batch_norm(b, "bn1", conv(b, "conv1", x, {.out = width})));
  x = relu(b, batch_norm(b, "bn2", conv(b, "conv2", x, {.out = width, .kernel = 3, .stride = stride})));
  return batch_norm(b, "bn3", conv(b, "conv3", x, {.out = 4 * width}), kBranchGain);
}

Feature residual(GraphBuilder& b, Feature x, Block block, int64_t width, int64_t stride) {
  const Feature added = branch(b, x, block, width, stride);
  Feature trunk = x;
  double power = x.power + 0.75 * added.power;  // half of the trunk is zero, where the ReLU halves the branch
  if (stride != 1 || x.channels != added.channels) {
    trunk = batch_norm(b, "downsample.1", conv(b, "downsample.0", x, {.out = added.channels, .stride = stride}));
    power = (trunk.power + added.power) / 2;
  }
  return {b.relu(b.add({added.value, trunk.value})), added.channels, power};
}

Graph build_resnet(std::string_view name, Block block, std::array<int, 4> repeats, const Options& options) {
  const Dim batch = batch_dim(options);
  const int64_t size = image_size(options, name, {.own = 224});
  GraphBuilder b(std::string(name), options.seed);
  Feature x{b.input("input", DType::f32, {batch, 3, size, size}), 3};
  x = relu(b, batch_norm(b, "bn1", conv(b, "conv1", x, {.out = 64, .kernel = 7, .stride = 2})));
  x = max_pool(b, x, {.kernel = 3, .stride = 2, .padding = 1});
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < repeats[static_cast<size_t>(stage)]; ++i) {
      const auto scope = b.scope(fmt::format("layer{}.{}", stage + 1, i));
      x = residual(b, x, block, int64_t{64} << stage, stage > 0 && i == 0 ? 2 : 1);
    }
  x.value = b.op("Flatten", {b.op("GlobalAveragePool", {x.value})}, {{"axis", int64_t{1}}});
  x.power /= 2;  // what averaging leaves is near the squared mean
  x = linear(b, "fc", x, 1000);
  b.output(x.value, "output", DType::f32, {batch, 1000});
  return std::move(b).finish();
}

}  // namespace

Graph build_resnet18(const Options& options) { return build_resnet("resnet18", Block::basic, {2, 2, 2, 2}, options); }
Graph build_resnet50(const Options& options) {
  return build_resnet("resnet50", Block::bottleneck, {3, 4, 6, 3}, options);
}

}  // namespace attune::zoo
