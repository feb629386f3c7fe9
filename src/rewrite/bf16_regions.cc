#include "rewrite/bf16_regions.h"

#include <algorithm>
#include <map>

namespace attune::rewrite {
namespace {

/// These hold nearly all of a network's arithmetic, and hardware multiplies bf16 several times faster than f32.
constexpr std::string_view kProducts[] = {"Conv", "MatMul", "ConvTranspose", "FusedAttention"};

/// These only move or lightly change what products give; in bf16 they move half the bytes and need no cast.
constexpr std::string_view kFollowers[] = {
    "Add",
    "AveragePool",
    "BatchNormalization",
    "ChannelShuffle",
    "Clip",
    "Concat",
    "DepthToSpace",
    "Div",
    "Dropout",
    "Elu",
    "Expand",
    "Flatten",
    "Gather",
    "Gelu",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LayerNormalization",
    "LeakyRelu",
    "MaxPool",
    "Mish",
    "Mul",
    "PRelu",
    "Pad",
    "Relu",
    "Reshape",
    "Resize",
    "Sigmoid",
    "Slice",
    "Softmax",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Sub",
    "Swish",
    "Tanh",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Upsample",
    "Where",
};

bool is_listed(std::string_view op, std::span<const std::string_view> list) {
  return std::ranges::find(list, op) != list.end();
}

/// Whether a kernel takes it in bf16: others would fall back to one that is slower than f32.
bool is_common_lstm(const Graph& graph, const Node& node) {
  constexpr size_t kWeights[] = {1, 2, 3}, kLengths = 4, kPeepholes = 7;
  const auto has = [&](size_t i) { return i < node.inputs.size() && node.inputs[i] != kNoValue; };
  if (node.op != "LSTM" || has(kLengths) || has(kPeepholes)) return false;
  for (const size_t i : kWeights)
    if (has(i) && !graph.value(node.inputs[i]).is_constant()) return false;
  return std::ranges::all_of(node.attributes, [](const auto& attribute) {
    return attribute.first == "hidden_size" || attribute.first == "direction";
  });
}

bool is_product(const Graph& graph, const Node& node) {
  return is_listed(node.op, kProducts) || is_common_lstm(graph, node);
}

bool can_follow_type(const Node& node) {
  const bool known = node.domain.empty() || node.domain == "attune";  // the latter are of our own rewriting
  // Second outputs of normalisations are statistics, which stay f32.
  const bool parts = node.op == "Split" || node.op == "ChannelShuffle" || node.op == "MaxPool" || node.op == "LSTM";
  return known && !node.outputs.empty() && node.outputs[0] != kNoValue && (node.outputs.size() == 1 || parts);
}

void add_regions(const Graph& graph, std::vector<Bf16Region>& regions) {
  for (const Node& node : graph.nodes())
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) add_regions(**body, regions);
  std::vector<NodeId> selected;
  try {
    selected = select_bf16(graph, infer_graph(graph), {});
  } catch (const UserError&) {
    return;  // a body for other shapes, which the pass leaves as it is
  }
  std::map<NodeId, size_t> positions;
  for (size_t i = 0; i < selected.size(); ++i) {
    const std::string& name = graph.nodes()[i].name;
    if (selected[i] == static_cast<NodeId>(i)) {
      positions[selected[i]] = regions.size();
      regions.push_back({name, {name}});
    } else if (selected[i] != kNoNode) {
      regions[positions.at(selected[i])].nodes.push_back(name);
    }
  }
}

}  // namespace

std::vector<NodeId> select_bf16(const Graph& graph, const GraphFacts& facts, const LeftAlone& left_alone) {
  std::vector<NodeId> selected(graph.nodes().size(), kNoNode);
  std::map<ValueId, NodeId> products;  // by value in bf16: whose region it comes from
  for (size_t i = 0; i < selected.size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (left_alone.count(node.name) > 0 || !can_follow_type(node)) continue;
    if (facts.types[static_cast<size_t>(node.outputs[0])].dtype != DType::f32) continue;
    if (is_product(graph, node)) {
      selected[i] = static_cast<NodeId>(i);
    } else if (is_listed(node.op, kFollowers)) {
      for (const ValueId id : node.inputs)
        if (const auto found = products.find(id); found != products.end())
          selected[i] = std::max(selected[i], found->second);
    }
    if (selected[i] == kNoNode) continue;
    for (const ValueId id : node.outputs)
      if (id != kNoValue && facts.types[static_cast<size_t>(id)].dtype == DType::f32) products[id] = selected[i];
  }
  return selected;
}

std::vector<Bf16Region> bf16_regions(const Graph& graph) {
  std::vector<Bf16Region> regions;
  add_regions(graph, regions);
  return regions;
}

}  // namespace attune::rewrite
