// ShuffleNetV2 x1.0 (Ma et al., 2018) as in torchvision.
#include "zoo/arguments.h"
#include "zoo/layers.h"
#include "zoo/models.h"

namespace attune::zoo {
namespace {

int64_t halved(int64_t size) { return (size + 1) / 2; }  // by a 3x3 window of stride 2 with padding 1

Feature depthwise(GraphBuilder& b, const std::string& branch, int module, Feature x, int64_t stride) {
  x = conv(b, fmt::format("{}.{}", branch, module), x,
           {.out = x.channels, .kernel = 3, .stride = stride, .groups = x.channels});
  return batch_norm(b, fmt::format("{}.{}", branch, module + 1), x);
}

Feature pointwise(GraphBuilder& b, const std::string& branch, int module, Feature x, int64_t out) {
  x = conv(b, fmt::format("{}.{}", branch, module), x, {.out = out});
  return relu(b, batch_norm(b, fmt::format("{}.{}", branch, module + 1), x));
}

ValueId channel_shuffle(GraphBuilder& b, ValueId x, const Dim& batch, int64_t channels, int64_t size) {
  const int64_t n = reshape_dim(batch);
  x = b.reshape(x, {n, 2, channels / 2, size, size});
  x = b.transpose(x, {0, 2, 1, 3, 4});
  return b.reshape(x, {n, channels, size, size});
}

/// `size` is that of the output.
Feature unit(GraphBuilder& b, Feature x, int64_t out, int64_t stride, const Dim& batch, int64_t size) {
  const int64_t width = out / 2;
  Feature left = x, right = x;
  if (stride == 1) {
    const auto halves = b.split(x.value, {width, width}, 1);
    left = {halves[0], width, x.power};
    right = {halves[1], width, x.power};
  } else {
    left = pointwise(b, "branch1", 2, depthwise(b, "branch1", 0, x, stride), width);
  }
  right = pointwise(b, "branch2", 0, right, width);
  right = pointwise(b, "branch2", 5, depthwise(b, "branch2", 3, right, stride), width);
  const ValueId joined = b.concat({left.value, right.value}, 1);
  return {channel_shuffle(b, joined, batch, out, size), out, right.power};
}

struct Stage {
  int repeats;
  int64_t out;
};
constexpr Stage kStages[] = {{4, 116}, {8, 232}, {4, 464}};

}  // namespace

Graph build_shufflenetv2(const Options& options) {
  const Dim batch = batch_dim(options);
  int64_t size = image_size(options, "shufflenetv2", {.own = 224});
  GraphBuilder b("shufflenetv2", options.seed);
  Feature x{b.input("input", DType::f32, {batch, 3, size, size}), 3};
  x = relu(b, batch_norm(b, "conv1.1", conv(b, "conv1.0", x, {.out = 24, .kernel = 3, .stride = 2})));
  x = max_pool(b, x, {.kernel = 3, .stride = 2, .padding = 1});
  size = halved(halved(size));
  int number = 2;
  for (const Stage& stage : kStages) {
    size = halved(size);
    for (int i = 0; i < stage.repeats; ++i) {
      const auto scope = b.scope(fmt::format("stage{}.{}", number, i));
      x = unit(b, x, stage.out, i == 0 ? 2 : 1, batch, size);
    }
    ++number;
  }
  x = relu(b, batch_norm(b, "conv5.1", conv(b, "conv5.0", x, {.out = 1024})));
  x.value = b.op("ReduceMean", {x.value}, {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}});
  x = linear(b, "fc", x, 1000);
  b.output(x.value, "output", DType::f32, {batch, 1000});
  return std::move(b).finish();
}

}  // namespace attune::zoo
