// Layers of convolutional networks. Each keeps an estimate of the mean square of its output, from which the next one
// draws its weights, so that activations stay near unit size through the whole depth.
#pragma once

#include "zoo/builder.h"

#include <optional>

namespace attune::zoo {

/// A feature map, or a vector of features for each sample.
struct Feature {
  ValueId value = kNoValue;
  int64_t channels = 0;
  double power = 1;  // estimated mean square; for what centred filters read, the variance
};

enum class Filters { plain, centred };  // centred: see Init

struct ConvSpec {
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  std::optional<int64_t> padding = std::nullopt;  // on each side; nothing: half the kernel
  int64_t groups = 1;
  std::optional<double> bias = std::nullopt;  // its standard deviation, below 1; nothing: no bias
  Filters filters = Filters::plain;
};

/// Output of unit power, the bias included. For inputs behind a ReLU this is He's initialisation.
Feature conv(GraphBuilder& b, std::string_view module, Feature x, const ConvSpec& spec);

/// Statistics that fit an input of unit power, with a random deviation for each channel; output of deviation `gain`.
Feature batch_norm(GraphBuilder& b, std::string_view module, Feature x, double gain = 1);

Feature relu(GraphBuilder& b, Feature x);
Feature relu6(GraphBuilder& b, Feature x);

struct PoolSpec {
  int64_t kernel = 2;
  int64_t stride = 2;
  int64_t padding = 0;
};
/// Of what a ReLU gave.
Feature max_pool(GraphBuilder& b, Feature x, const PoolSpec& spec);

/// Gemm with weights [out, in] as PyTorch stores them; output of unit power.
Feature linear(GraphBuilder& b, std::string_view module, Feature x, int64_t out);

}  // namespace attune::zoo
