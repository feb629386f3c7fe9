#include "rewrite/take_in_padding.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

using Ints = std::vector<int64_t>;

bool is_op(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

/// Where a Pad puts zeros, for the axes of maps alone: beginnings, then ends. Nothing for any other Pad.
std::optional<Ints> spatial_padding(const Graph& graph, const Node& pad) {
  constexpr int kAsInputs = 11;
  if (attribute_or<std::string>(pad.attributes, "mode", "constant") != "constant") return std::nullopt;
  Ints pads;
  if (pad.version < kAsInputs) {
    if (attribute_or<float>(pad.attributes, "value", 0.0f) != 0.0f) return std::nullopt;
    pads = attribute_or<Ints>(pad.attributes, "pads", {});
  } else {
    const Tensor* given = constant_input(graph, pad, 1);
    const bool zero = pad.inputs.size() < 3 || pad.inputs[2] == kNoValue || scalar_input(graph, pad, 2) == 0.0;
    const bool some_axes = pad.inputs.size() > 3 && pad.inputs[3] != kNoValue;
    if (given == nullptr || !zero || some_axes) return std::nullopt;
    for (int64_t i = 0; i < given->count(); ++i) pads.push_back(element_as_int(*given, i));
  }
  const size_t rank = pads.size() / 2;
  if (rank < 3 || pads.size() % 2 != 0 || std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; }))
    return std::nullopt;
  Ints result;
  for (size_t i = 0; i < pads.size(); ++i) {
    if (i % rank >= 2)
      result.push_back(pads[i]);
    else if (pads[i] != 0)
      return std::nullopt;
  }
  return result;
}

/// Zeros change no maximum of these, as long as a window sees one of them.
bool never_negative(const Graph& graph, ValueId id) {
  if (graph.value(id).producer == kNoNode) return false;
  const Node& node = graph.node(graph.value(id).producer);
  return is_op(node, "Relu") || is_op(node, "Sigmoid") || is_op(node, "HardSigmoid") || is_op(node, "Softplus") ||
         is_op(node, "Abs") || is_op(node, "Exp");
}

bool smaller_than_window(const Node& pool, const Ints& pads) {
  const Ints kernel = attribute_or<Ints>(pool.attributes, "kernel_shape", {});
  if (kernel.size() * 2 != pads.size()) return false;
  for (size_t i = 0; i < pads.size(); ++i)
    if (pads[i] >= kernel[i % kernel.size()]) return false;
  return true;
}

/// Whether the operator pads with zeros, or as if it did, `pads` being its own and those of the Pad together.
bool can_take(const Graph& graph, const Node& node, const Node& pad, const Ints& pads) {
  if (attribute_or<std::string>(node.attributes, "auto_pad", "NOTSET") != "NOTSET") return false;
  if (is_op(node, "Conv")) return node.inputs[0] == pad.outputs[0];
  // Whether a window that hangs over the edge counts what lies there is a question of its own.
  if (attribute_or<int64_t>(node.attributes, "ceil_mode", 0) != 0 || node.outputs.size() != 1) return false;
  if (is_op(node, "MaxPool")) {
    const Ints ones(pads.size() / 2, 1);
    return never_negative(graph, pad.inputs[0]) && smaller_than_window(node, pads) &&
           attribute_or<Ints>(node.attributes, "dilations", ones) == ones;
  }
  if (!is_op(node, "AveragePool") || !smaller_than_window(node, pads) || node.version < 7) return false;
  const Ints own = attribute_or<Ints>(node.attributes, "pads", {});
  const bool pads_itself = std::any_of(own.begin(), own.end(), [](int64_t p) { return p != 0; });
  return !pads_itself || attribute_or<int64_t>(node.attributes, "count_include_pad", 0) != 0;
}

}  // namespace

int take_in_padding(Graph& graph) {
  const Uses uses(graph);
  std::vector<bool> removed(graph.nodes().size(), false);
  int changes = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& pad = graph.nodes()[i];
    const NodeId reader = is_op(pad, "Pad") ? uses.only_reader(pad.outputs[0]) : kNoNode;
    auto pads = reader == kNoNode ? std::nullopt : spatial_padding(graph, pad);
    if (!pads) continue;
    Node& node = graph.node(reader);
    const Ints own = attribute_or<Ints>(node.attributes, "pads", Ints(pads->size(), 0));
    if (own.size() != pads->size()) continue;
    for (size_t k = 0; k < own.size(); ++k) (*pads)[k] += own[k];
    if (!can_take(graph, node, pad, *pads)) continue;
    node.inputs[0] = pad.inputs[0];
    node.attributes["pads"] = *pads;
    if (node.op == "AveragePool") node.attributes["count_include_pad"] = int64_t{1};
    removed[i] = true;
    ++changes;
  }
  if (changes > 0) erase_nodes(graph, removed);
  return changes;
}

}  // namespace attune::rewrite
