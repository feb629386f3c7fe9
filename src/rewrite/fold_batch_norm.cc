#include "rewrite/fold_batch_norm.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "rewrite/batch_norm.h"
#include "rewrite/uses.h"

namespace attune::rewrite {
namespace {

bool has_axis_of(const Node& conv, const Tensor& weights, size_t channels) {
  if (conv.op == "Conv") return static_cast<size_t>(weights.dim(0)) == channels;
  return conv.op == "ConvTranspose" && attribute_or<int64_t>(conv.attributes, "group", 1) == 1 &&
         static_cast<size_t>(weights.dim(1)) == channels;
}

bool can_take(const Graph& graph, const Node& conv, size_t channels) {
  const Tensor* weights = conv.domain.empty() ? constant_input(graph, conv, 1) : nullptr;
  if (weights == nullptr || weights->rank() < 3 || !has_axis_of(conv, *weights, channels)) return false;
  const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2] != kNoValue;
  return !has_bias || constant_input(graph, conv, 2) != nullptr;
}

/// Calls scale_one(at, factor) for each element; channels are an axis after `before` others.
template <class Function>
void for_each_scaled(int64_t count, int64_t before, const std::vector<double>& scale, const Function& scale_one) {
  const int64_t per_channel = count / std::max<int64_t>(before * std::ssize(scale), 1);
  int64_t at = 0;
  for (int64_t i = 0; i < before; ++i)
    for (const double factor : scale)
      for (const int64_t end = at + per_channel; at < end; ++at) scale_one(at, factor);
}

/// Weights with every output channel multiplied by its factor. What can be read again from the model's file is computed
/// again too: packed for a kernel, the product itself is not kept in memory.
Tensor scaled_weights(const Tensor& weights, int64_t before, std::vector<double> scale) {
  if (weights.dtype() == DType::f32 && weights.reloadable())
    return Tensor::computed(DType::f32, weights.dims(), [weights, before, scale = std::move(scale)](std::byte* bytes) {
      const Tensor source = weights.held();
      auto* out = reinterpret_cast<float*>(bytes);
      const auto* in = source.data<float>();
      for_each_scaled(weights.count(), before, scale,
                      [&](int64_t at, double factor) { out[at] = static_cast<float>(in[at] * factor); });
      weights.release_pages();
    });
  Tensor scaled = convert(weights.held(), DType::f64).clone();
  auto* value = scaled.mutable_data<double>();
  for_each_scaled(weights.count(), before, scale, [&](int64_t at, double factor) { value[at] *= factor; });
  return convert(scaled, weights.dtype());
}

void multiply_in(Graph& graph, Node& conv, const ChannelMap& map) {
  const Tensor weights = *constant_input(graph, conv, 1);
  const auto channels = std::ssize(map.scale);
  const int64_t before = conv.op == "Conv" ? 1 : weights.dim(0);  // axes before the output channels
  Tensor bias = Tensor::zeros(DType::f64, {channels});
  if (const Tensor* old = constant_input(graph, conv, 2)) bias = convert(*old, DType::f64).clone();
  for (int64_t c = 0; c < channels; ++c) {
    const auto at = static_cast<size_t>(c);
    bias.mutable_data<double>()[c] = bias.data<double>()[c] * map.scale[at] + map.shift[at];
  }
  const std::string& name = graph.value(conv.inputs[1]).name;
  const ValueId new_weights = graph.add_constant(name + "_scaled", scaled_weights(weights, before, map.scale));
  const ValueId new_bias = graph.add_constant(name + "_bias", convert(bias, weights.dtype()));
  weights.release_pages();  // read for the last time, most likely
  conv.inputs.resize(3, kNoValue);
  conv.inputs[1] = new_weights;
  conv.inputs[2] = new_bias;
}

}  // namespace

int fold_batch_norm(Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> removed(graph.nodes().size(), false);
  int changes = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& norm = graph.nodes()[i];
    if (!is_inference_norm(graph, norm)) continue;
    const NodeId producer = graph.value(norm.inputs[0]).producer;
    if (producer == kNoNode || uses.only_reader(norm.inputs[0]) == kNoNode) continue;
    Node& conv = graph.node(producer);
    if (!can_take(graph, conv, static_cast<size_t>(constant_input(graph, norm, 1)->count()))) continue;
    multiply_in(graph, conv, channel_map(graph, norm));
    conv.outputs[0] = norm.outputs[0];
    graph.value(norm.outputs[0]).producer = producer;
    removed[i] = true;
    ++changes;
  }
  if (changes > 0) erase_nodes(graph, removed);
  return changes;
}

}  // namespace attune::rewrite
