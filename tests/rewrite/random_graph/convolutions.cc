// Families around convolutions: normalisation, pools, padding, residuals, squeeze-and-excite, channel shuffle, heads
// of detectors.
#include "rewrite/random_graph/graph_sampler.h"

#include <cmath>

namespace attune::test {
namespace {

struct ConvChoice {
  int64_t kernel = 0;  // 0: any
  bool same = false;   // maps keep their size
};

ValueId conv_of(GraphSampler& g, ValueId x, int64_t channels, ConvChoice choice = {}) {
  const auto spatial = static_cast<size_t>(g.rank(x) - 2);
  const int64_t in = g.dims(x)[1];
  int64_t group = 1;
  if (g.chance(0.2) && channels % in == 0) group = in;  // depthwise, perhaps several for each channel
  if (group == 1 && g.chance(0.2))
    for (const int64_t divisor : {2, 3, 4})
      if (in % divisor == 0 && channels % divisor == 0) group = divisor;
  Dims weights{channels, in / group};
  std::vector<int64_t> kernel, strides, dilations, pads(2 * spatial);
  for (size_t i = 0; i < spatial; ++i) {
    kernel.push_back(choice.kernel > 0 ? choice.kernel : g.one_of({1, 1, 3, 3, 2, 5}));
    strides.push_back(choice.same ? 1 : g.one_of({1, 1, 2}));
    dilations.push_back(choice.same ? 1 : g.one_of({1, 1, 1, 2}));
    weights.push_back(kernel.back());
    const bool centred = choice.same || g.chance(0.7);
    pads[i] = centred ? kernel[i] / 2 : g.below(3);
    pads[spatial + i] = centred ? (kernel[i] - 1) / 2 : g.below(3);
  }
  double fan = static_cast<double>(in / group);
  for (const int64_t k : kernel) fan *= static_cast<double>(k);
  std::vector<ValueId> inputs{x, g.normal(weights, 1 / std::sqrt(fan))};
  if (g.chance(0.5)) inputs.push_back(g.normal({channels}, 0.5));
  Attributes attributes{{"kernel_shape", kernel}, {"strides", strides}, {"dilations", dilations}, {"group", group}};
  if (!choice.same && g.chance(0.15))
    attributes["auto_pad"] = std::string(g.one_of({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  else
    attributes["pads"] = pads;
  return g.apply("Conv", inputs, attributes);
}

int64_t some_channels(GraphSampler& g) { return g.one_of<int64_t>({1, 2, 3, 4, 6, 8, 12, 16, 16, 17, 24, 32}); }

ValueId norm_of(GraphSampler& g, ValueId x) {
  const Dims c{g.dims(x)[1]};
  return g.apply("BatchNormalization",
                 {x, g.uniform(c, 0.5, 1.5), g.normal(c, 0.5), g.normal(c, 0.5), g.uniform(c, 0.5, 2)},
                 {{"epsilon", 1e-3f}});
}

ValueId activation_of(GraphSampler& g, ValueId x) {
  switch (g.below(6)) {
    case 0: return x;
    case 1: return g.apply("Relu", {x});
    case 2: return g.clip(x, 0, 6);
    case 3: return g.apply("LeakyRelu", {x}, {{"alpha", 0.1f}});
    case 4: return g.apply("Sigmoid", {x});
    default: return g.apply("Mul", {x, g.apply("Sigmoid", {x})});
  }
}

void sample_conv(GraphSampler& g) { conv_of(g, g.pick_map(), some_channels(g)); }

void sample_block(GraphSampler& g) {
  const ValueId x = g.pick_map();
  ValueId y = conv_of(g, x, some_channels(g));
  if (g.chance(0.7)) y = norm_of(g, y);
  activation_of(g, y);
}

void sample_norm(GraphSampler& g) { norm_of(g, g.pick_float(2, 5)); }

void sample_residual(GraphSampler& g) {
  const ValueId x = g.pick_map();
  ValueId y = norm_of(g, conv_of(g, x, g.dims(x)[1], {0, true}));
  if (g.chance(0.3)) y = activation_of(g, y);
  const ValueId other = g.chance(0.3) ? conv_of(g, x, g.dims(x)[1], {1, true}) : x;
  activation_of(g, g.chance(0.5) ? g.apply("Add", {y, other}) : g.apply("Add", {other, y}));
}

void sample_separable(GraphSampler& g) {
  const ValueId x = g.pick_map();
  const int64_t channels = g.dims(x)[1];
  const ValueId weights = g.normal({channels, 1, 3, 3}, 0.4);
  g.need(g.rank(x) == 4);
  ValueId y = g.apply("Conv", {x, weights}, {{"group", channels}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  y = activation_of(g, y);
  activation_of(g, conv_of(g, y, some_channels(g), {1, true}));
}

void sample_squeeze_excite(GraphSampler& g) {
  const ValueId x = g.pick_float(4, 4);
  const int64_t c = g.dims(x)[1], inner = g.one_of({1, 2, 4});
  const ValueId mean = g.chance(0.5) ? g.apply("GlobalAveragePool", {x}) : g.reduce("ReduceMean", x, {2, 3}, 1);
  const ValueId low = g.apply("Relu", {conv_of(g, mean, inner, {1, true})});
  const ValueId high = conv_of(g, low, c, {1, true});
  const ValueId gate =
      g.chance(0.5) ? g.apply("Sigmoid", {high}) : g.apply("HardSigmoid", {high}, {{"alpha", 1.0f / 6}});
  g.chance(0.5) ? g.apply("Mul", {x, gate}) : g.apply("Mul", {gate, x});
}

void sample_pool(GraphSampler& g) {
  const ValueId x = g.pick_map();
  const auto spatial = static_cast<size_t>(g.rank(x) - 2);
  if (g.chance(0.3)) {
    g.apply(g.one_of({"GlobalAveragePool", "GlobalMaxPool"}), {x});
    return;
  }
  std::vector<int64_t> kernel, strides, pads(2 * spatial);
  for (size_t i = 0; i < spatial; ++i) {
    kernel.push_back(g.between(1, 4));
    strides.push_back(g.between(1, 2));
    pads[i] = g.below(kernel[i]);
    pads[spatial + i] = g.below(kernel[i]);
  }
  Attributes attributes{{"kernel_shape", kernel}, {"strides", strides}, {"ceil_mode", g.below(2)}};
  if (g.chance(0.7)) attributes["pads"] = pads;
  const bool maximum = g.chance(0.5);
  if (!maximum) attributes["count_include_pad"] = g.below(2);
  const ValueId y = g.apply(maximum ? "MaxPool" : "AveragePool", {x}, attributes);
  if (g.chance(0.2)) g.apply("Concat", {x, y}, {{"axis", int64_t{1}}});
}

/// Padding, by itself or before what could take it over.
void sample_pad(GraphSampler& g) {
  const ValueId map = g.pick_map(), x = g.chance(0.3) ? g.apply("Relu", {map}) : map;
  const auto rank = static_cast<size_t>(g.rank(x));
  std::vector<int64_t> pads(2 * rank, 0);
  for (size_t axis = g.chance(0.9) ? 2 : 0; axis < rank; ++axis) {
    pads[axis] = g.chance(0.1) ? -1 : g.below(3);
    pads[rank + axis] = g.below(3);
  }
  const auto* mode = g.chance(0.8) ? "constant" : g.one_of({"reflect", "edge"});
  std::vector<ValueId> inputs{x, g.integers(pads)};
  if (g.chance(0.4)) inputs.push_back(g.number(g.chance(0.7) ? 0 : 0.5));
  const ValueId y = g.apply("Pad", inputs, {{"mode", std::string(mode)}});
  const std::vector<int64_t> kernel(rank - 2, 3);
  switch (g.below(4)) {
    case 0: break;
    case 1: g.apply("MaxPool", {y}, {{"kernel_shape", kernel}}); break;
    case 2: g.apply("AveragePool", {y}, {{"kernel_shape", kernel}, {"count_include_pad", g.below(2)}}); break;
    default: conv_of(g, y, some_channels(g));
  }
}

void sample_shuffle(GraphSampler& g) {
  ValueId x = g.pick_float(4, 4);
  if (g.chance(0.4)) x = g.apply("Concat", {x, g.apply("Relu", {x})}, {{"axis", int64_t{1}}});
  const Dims d = g.dims(x);
  const int64_t groups = g.one_of<int64_t>({1, 2, 2, 3, 4});
  g.need(d[1] % groups == 0);
  ValueId y = g.reshape(x, {d[0], groups, d[1] / groups, d[2], d[3]});
  y = g.apply("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}});
  y = g.reshape(y, {g.chance(0.5) ? d[0] : 0, -1, d[2], d[3]});
  if (g.chance(0.5) && d[1] % 2 == 0) {
    Attributes attributes{{"axis", int64_t{1}}};
    if (g.opset() >= 18) attributes["num_outputs"] = int64_t{2};
    const auto parts = g.apply("Split", {y}, attributes, {2});
    conv_of(g, parts[0], some_channels(g));
  }
}

/// A unit of ShuffleNet: what a 1x1 convolution gives takes turns with its input.
void sample_shuffled_conv(GraphSampler& g) {
  const ValueId x = g.pick_float(4, 4);
  const ValueId y = activation_of(g, conv_of(g, x, g.dims(x)[1], {.kernel = 1, .same = true}));
  const std::vector<ValueId> pair = g.chance(0.5) ? std::vector{x, y} : std::vector{y, x};
  const Dims d = g.dims(x);
  ValueId z = g.apply("Concat", pair, {{"axis", int64_t{1}}});
  z = g.reshape(z, {d[0], 2, d[1], d[2], d[3]});
  z = g.apply("Transpose", {z}, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}});
  z = g.reshape(z, {d[0], 2 * d[1], d[2], d[3]});
  if (g.chance(0.4)) return;
  Attributes attributes{{"axis", int64_t{1}}};
  if (g.opset() >= 18) attributes["num_outputs"] = int64_t{2};
  g.apply("Split", {z}, attributes, {2});
}

/// The end of a detector: channels are boxes and numbers of a box, which are moved last, cut and joined again.
void sample_head(GraphSampler& g) {
  const ValueId x = g.pick_float(4, 4);
  const int64_t boxes = g.between(1, 3), numbers = g.between(2, 9);
  const ValueId map = conv_of(g, x, boxes * numbers, {.kernel = 1, .same = true});
  const Dims d = g.dims(map);
  ValueId y = g.reshape(map, {d[0], boxes, numbers, d[2], d[3]});
  const std::vector<int64_t> perm =
      g.chance(0.7) ? std::vector<int64_t>{0, 1, 3, 4, 2} : std::vector<int64_t>{0, 3, 4, 1, 2};
  y = activation_of(g, g.apply("Transpose", {y}, {{"perm", perm}}));
  if (g.chance(0.5) && g.opset() >= 13) {
    const auto parts = g.apply("Split", {y, g.integers({1, numbers - 1})}, {{"axis", int64_t{-1}}}, {2});
    y = g.apply("Concat", {g.apply("Mul", {parts[0], parts[0]}), parts[1]}, {{"axis", int64_t{4}}});
  }
  g.reshape(y, {d[0], -1, numbers});
}

void sample_resize(GraphSampler& g) {
  const ValueId x = g.pick_float(4, 4);
  const Dims d = g.dims(x);
  const auto* mode = g.one_of({"nearest", "nearest", "linear"});
  Attributes attributes{{"mode", std::string(mode)}};
  // Where halves are rounded decides which element is taken, so only modes that agree about them.
  attributes["coordinate_transformation_mode"] = std::string(g.one_of({"asymmetric", "half_pixel"}));
  if (g.chance(0.6)) attributes["nearest_mode"] = std::string(g.one_of({"floor", "round_prefer_floor", "ceil"}));
  std::vector<ValueId> inputs{x, kNoValue};
  if (g.chance(0.6)) {
    inputs.push_back(g.numbers({1, 1, static_cast<float>(g.between(1, 3)), static_cast<float>(g.between(1, 3))}));
  } else {
    inputs.push_back(kNoValue);
    inputs.push_back(g.integers({d[0], d[1], g.between(1, 9), g.between(1, 9)}));
  }
  g.apply("Resize", inputs, attributes);
}

void sample_instance_norm(GraphSampler& g) {
  const ValueId x = g.pick_map();
  g.need(g.tensor(x).count() / (g.dims(x)[0] * g.dims(x)[1]) >= 8);  // of a few elements it multiplies rounding
  const Dims c{g.dims(x)[1]};
  g.apply("InstanceNormalization", {x, g.uniform(c, 0.5, 1.5), g.normal(c, 0.5)}, {{"epsilon", 1e-2f}});
}

void sample_transposed_conv(GraphSampler& g) {
  const ValueId x = g.pick_map();
  const auto spatial = static_cast<size_t>(g.rank(x) - 2);
  const int64_t in = g.dims(x)[1];
  Dims weights{in, some_channels(g)};
  for (size_t i = 0; i < spatial; ++i) weights.push_back(2);
  const double deviation = 1 / std::sqrt(static_cast<double>(in) * 2);
  const ValueId y = g.apply("ConvTranspose", {x, g.normal(weights, deviation)},
                            {{"strides", std::vector<int64_t>(spatial, g.between(1, 2))}});
  activation_of(g, y);
}

}  // namespace

std::vector<Family> convolution_families() {
  return {{"conv", 8, sample_conv},
          {"block", 10, sample_block},
          {"norm", 3, sample_norm},
          {"residual", 6, sample_residual},
          {"separable", 3, sample_separable},
          {"squeeze_excite", 3, sample_squeeze_excite},
          {"pool", 6, sample_pool},
          {"pad", 5, sample_pad},
          {"shuffle", 5, sample_shuffle},
          {"shuffled_conv", 5, sample_shuffled_conv},
          {"head", 4, sample_head},
          {"resize", 4, sample_resize},
          {"instance_norm", 1, sample_instance_norm},
          {"transposed_conv", 2, sample_transposed_conv}};
}

}  // namespace attune::test
