#include "zoo/layers.h"

#include <cmath>

namespace attune::zoo {

Feature conv(GraphBuilder& b, std::string_view module, Feature x, const ConvSpec& spec) {
  const auto scope = b.scope(module);
  const int64_t group_channels = x.channels / spec.groups;
  const double fan_in = static_cast<double>(group_channels * spec.kernel * spec.kernel);
  const double bias = spec.bias.value_or(0.0);
  std::vector<ValueId> inputs{x.value, b.parameter("weight", {spec.out, group_channels, spec.kernel, spec.kernel},
                                                   {.deviation = std::sqrt((1 - bias * bias) / (fan_in * x.power)),
                                                    .centred = spec.filters == Filters::centred})};
  if (spec.bias) inputs.push_back(b.parameter("bias", {spec.out}, {.deviation = bias}));
  const int64_t pad = spec.padding.value_or(spec.kernel / 2);
  const ValueId result = b.op("Conv", std::move(inputs),
                              {{"dilations", std::vector<int64_t>{1, 1}},
                               {"group", spec.groups},
                               {"kernel_shape", std::vector<int64_t>{spec.kernel, spec.kernel}},
                               {"pads", std::vector<int64_t>{pad, pad, pad, pad}},
                               {"strides", std::vector<int64_t>{spec.stride, spec.stride}}});
  return {result, spec.out, 1};
}

Feature batch_norm(GraphBuilder& b, std::string_view module, Feature x, double gain) {
  const auto scope = b.scope(module);
  const Init around_zero{.deviation = 0.1};
  const Init around_one{.mean = 1, .deviation = 0.1, .distribution = Distribution::uniform};
  const ValueId weight = b.parameter("weight", {x.channels}, {.mean = gain, .deviation = 0.1 * gain});
  const ValueId bias = b.parameter("bias", {x.channels}, around_zero);
  const ValueId mean = b.parameter("running_mean", {x.channels}, around_zero);
  const ValueId variance = b.parameter("running_var", {x.channels}, around_one);
  const ValueId result = b.op("BatchNormalization", {x.value, weight, bias, mean, variance},
                              {{"epsilon", 1e-5F}, {"momentum", 0.9F}, {"training_mode", int64_t{0}}});
  return {result, x.channels, gain * gain};
}

Feature relu(GraphBuilder& b, Feature x) { return {b.relu(x.value), x.channels, x.power / 2}; }

Feature relu6(GraphBuilder& b, Feature x) {
  return {b.op("Clip", {x.value, b.number(0), b.number(6)}), x.channels, x.power / 2};
}

Feature max_pool(GraphBuilder& b, Feature x, const PoolSpec& spec) {
  const ValueId result = b.op("MaxPool", {x.value},
                              {{"ceil_mode", int64_t{0}},
                               {"kernel_shape", std::vector<int64_t>{spec.kernel, spec.kernel}},
                               {"pads", std::vector<int64_t>(4, spec.padding)},
                               {"strides", std::vector<int64_t>{spec.stride, spec.stride}}});
  // Of n rectified normals of deviation 1, each of power 1/2, the largest has a mean square near ln(n).
  const double largest = std::log(static_cast<double>(spec.kernel * spec.kernel));
  return {result, x.channels, 2 * largest * x.power};
}

Feature linear(GraphBuilder& b, std::string_view module, Feature x, int64_t out) {
  const auto scope = b.scope(module);
  const double deviation = std::sqrt(1 / (static_cast<double>(x.channels) * x.power));
  const ValueId weight = b.parameter("weight", {out, x.channels}, {.deviation = deviation});
  const ValueId bias = b.parameter("bias", {out}, {.deviation = 0.1});
  const ValueId result =
      b.op("Gemm", {x.value, weight, bias}, {{"alpha", 1.0F}, {"beta", 1.0F}, {"transB", int64_t{1}}});
  return {result, out, 1};
}

}  // namespace attune::zoo
