#include "rewrite/batch_norm.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <cmath>

namespace attune::rewrite {

bool is_inference_norm(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.op != "BatchNormalization" || node.inputs.size() != 5) return false;
  if (attribute_or<int64_t>(node.attributes, "training_mode", 0) != 0 ||
      attribute_or<int64_t>(node.attributes, "spatial", 1) == 0)
    return false;
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kNoValue) return false;
  for (size_t i = 1; i < 5; ++i) {
    const Tensor* constant = constant_input(graph, node, i);
    if (constant == nullptr || constant->rank() != 1) return false;
  }
  return true;
}

ChannelMap channel_map(const Graph& graph, const Node& norm) {
  const auto read = [&](size_t i) { return convert(*constant_input(graph, norm, i), DType::f64); };
  const Tensor scale = read(1), bias = read(2), mean = read(3), variance = read(4);
  const double epsilon = attribute_or<float>(norm.attributes, "epsilon", 1e-5f);
  ChannelMap map;
  for (int64_t c = 0; c < scale.count(); ++c) {
    const double s = scale.data<double>()[c] / std::sqrt(variance.data<double>()[c] + epsilon);
    map.scale.push_back(s);
    map.shift.push_back(bias.data<double>()[c] - mean.data<double>()[c] * s);
  }
  return map;
}

}  // namespace attune::rewrite
