#include "rewrite/take_in_bias.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <optional>

namespace attune::rewrite {
namespace {

constexpr size_t kWeights = 1, kBias = 2;

int64_t channels_of(const Node& conv, const Tensor& weights) {
  if (conv.op == "Conv") return weights.dim(0);
  return weights.dim(1) * attribute_or<int64_t>(conv.attributes, "group", 1);
}

/// Whether dims are those of one number for each channel of a map of so many dims, or of one number for all.
bool is_per_channel(const Dims& dims, int64_t rank, int64_t channels) {
  const int64_t axis = std::ssize(dims) - (rank - 1);  // of the channels, both aligned at the last dim
  if (std::ssize(dims) > rank) return false;
  for (int64_t i = 0; i < std::ssize(dims); ++i)
    if (dims[static_cast<size_t>(i)] != 1 && (i != axis || dims[static_cast<size_t>(i)] != channels)) return false;
  return true;
}

/// The constant operand of a sum that can be the bias of the convolution before it.
std::optional<size_t> bias_operand(const Graph& graph, const Node& conv, const Node& sum) {
  if (!sum.domain.empty() || sum.op != "Add" || sum.inputs.size() != 2) return std::nullopt;
  const Tensor* weights = constant_input(graph, conv, kWeights);
  const bool has_bias = conv.inputs.size() > kBias && conv.inputs[kBias] != kNoValue;
  if (weights == nullptr || weights->rank() < 3 || (has_bias && constant_input(graph, conv, kBias) == nullptr))
    return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const Tensor* added = constant_input(graph, sum, i);
    if (added != nullptr && sum.inputs[1 - i] == conv.outputs[0] && added->dtype() == weights->dtype() &&
        is_float(added->dtype()) && is_per_channel(added->dims(), weights->rank(), channels_of(conv, *weights)))
      return i;
  }
  return std::nullopt;
}

Tensor sum_of(const Tensor* old, const Tensor& added, int64_t channels) {
  Tensor bias = Tensor::zeros(DType::f64, {channels});
  for (int64_t c = 0; c < channels; ++c)
    bias.mutable_data<double>()[c] =
        (old ? element_as_double(*old, c) : 0) + element_as_double(added, added.count() == 1 ? 0 : c);
  return convert(bias, added.dtype());
}

}  // namespace

int take_in_bias(Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> removed(graph.nodes().size(), false);
  int changes = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    Node& conv = graph.nodes()[i];
    if (!conv.domain.empty() || (conv.op != "Conv" && conv.op != "ConvTranspose")) continue;
    const NodeId reader = uses.only_reader(conv.outputs[0]);
    const auto operand = reader == kNoNode ? std::nullopt : bias_operand(graph, conv, graph.node(reader));
    if (!operand) continue;
    const Node& sum = graph.node(reader);
    const Tensor& weights = *constant_input(graph, conv, kWeights);
    const Tensor bias =
        sum_of(constant_input(graph, conv, kBias), *constant_input(graph, sum, *operand), channels_of(conv, weights));
    conv.inputs.resize(kBias + 1, kNoValue);
    conv.inputs[kBias] = graph.add_constant(conv.name + "_bias", bias);
    conv.outputs[0] = sum.outputs[0];
    graph.value(sum.outputs[0]).producer = static_cast<NodeId>(i);
    removed[static_cast<size_t>(reader)] = true;
    ++changes;
  }
  if (changes > 0) erase_nodes(graph, removed);
  return changes;
}

}  // namespace attune::rewrite
