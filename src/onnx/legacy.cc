#include "onnx/legacy.h"

#include "base/error.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace attune::onnx_io {
namespace {

constexpr int kFirstBroadcastingOpset = 7;
constexpr std::array<std::string_view, 12> kBroadcasting = {"Add", "Sub", "Mul",     "Div",  "Pow",   "And",
                                                            "Or",  "Xor", "Greater", "Less", "Equal", "PRelu"};

int64_t take_int(Node& node, std::string_view name, int64_t fallback) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return fallback;
  const auto* number = std::get_if<int64_t>(&found->second);
  const int64_t value = number ? *number : fallback;
  node.attributes.erase(found);
  return value;
}

/// B was aligned with A's dims from `axis` on; giving it trailing ones says the same by today's rule.
void align(Node& node, int64_t axis, Graph& graph) {
  const auto& a = graph.value(node.inputs[0]).shape;
  const auto& b = graph.value(node.inputs[1]).shape;
  if (!a || !b)
    throw UnsupportedError(
        "op '{}' (node '{}') broadcasts by axis as before opset 7, and its ranks are not known; convert the model "
        "to opset 7 or later",
        node.op, node.name);
  const auto trailing = static_cast<int64_t>(a->size()) - axis - static_cast<int64_t>(b->size());
  if (trailing <= 0) return;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < trailing; ++i) axes.push_back(static_cast<int64_t>(b->size()) + i);
  Value aligned;
  aligned.name = graph.value(node.inputs[1]).name + "_aligned";
  Node unsqueeze;
  unsqueeze.name = node.name + "_align";
  unsqueeze.op = "Unsqueeze";
  unsqueeze.version = node.version;
  unsqueeze.inputs = {node.inputs[1]};
  unsqueeze.attributes["axes"] = axes;
  unsqueeze.outputs = {graph.add_value(std::move(aligned))};
  node.inputs[1] = unsqueeze.outputs[0];
  graph.add_node(std::move(unsqueeze));
}

}  // namespace

void upgrade_legacy_node(Node& node, Graph& graph) {
  if (!node.domain.empty() || node.version >= kFirstBroadcastingOpset) return;
  const bool other_meaning = node.op == "Upsample" || (node.op == "Reshape" && node.inputs.size() < 2) ||
                             (node.op == "Tile" && node.version < 6);
  if (other_meaning)
    throw UnsupportedError("op '{}' (node '{}') is of opset {}; convert the model to opset 7 or later", node.op,
                           node.name, node.version);
  take_int(node, "consumed_inputs", 0);
  if (node.op == "Gemm") take_int(node, "broadcast", 0);
  if (std::find(kBroadcasting.begin(), kBroadcasting.end(), node.op) == kBroadcasting.end()) return;
  const bool broadcast = take_int(node, "broadcast", 0) != 0;
  const bool has_axis = node.attributes.count("axis") != 0;
  const int64_t axis = take_int(node, "axis", 0);
  if (node.inputs.size() != 2) return;
  if (broadcast && has_axis) align(node, axis, graph);
  // A vector of slopes had one for each channel.
  const auto& slopes = graph.value(node.inputs[1]).shape;
  if (node.op == "PRelu" && slopes && slopes->size() == 1 && !((*slopes)[0] == Dim(1))) align(node, 1, graph);
}

}  // namespace attune::onnx_io
