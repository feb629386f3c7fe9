#include "rewrite/uses.h"

#include "ops/convert.h"

namespace attune::rewrite {

Uses::Uses(const Graph& graph) : counts_(graph.values().size(), 0), readers_(graph.values().size(), kNoNode) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      ++counts_[static_cast<size_t>(id)];
      readers_[static_cast<size_t>(id)] = static_cast<NodeId>(i);
    }
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for (const Capture& capture : (*body)->captures)
          counts_[static_cast<size_t>(capture.outer)] += 2;  // never a single reader
  }
  for (const ValueId id : graph.outputs) counts_[static_cast<size_t>(id)] += 2;
}

void redirect(Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes()) {
    for (ValueId& id : node.inputs)
      if (id == from) id = to;
    for (auto& [name, attribute] : node.attributes)
      if (auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for (Capture& capture : (*body)->captures)
          if (capture.outer == from) capture.outer = to;
  }
}

void erase_nodes(Graph& graph, const std::vector<bool>& marked) {
  std::vector<Node> kept;
  for (size_t i = 0; i < graph.nodes().size(); ++i)
    if (!marked[i]) kept.push_back(std::move(graph.nodes()[i]));
  graph.set_nodes(std::move(kept));
}

const Tensor* constant_input(const Graph& graph, const Node& node, size_t i) {
  if (i >= node.inputs.size() || node.inputs[i] == kNoValue) return nullptr;
  const Value& value = graph.value(node.inputs[i]);
  return value.is_constant() ? &value.constant : nullptr;
}

std::optional<double> scalar_input(const Graph& graph, const Node& node, size_t i) {
  const Tensor* tensor = constant_input(graph, node, i);
  if (tensor == nullptr || tensor->count() != 1) return std::nullopt;
  return element_as_double(*tensor, 0);
}

}  // namespace attune::rewrite
