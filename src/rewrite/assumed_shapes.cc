#include "rewrite/assumed_shapes.h"

#include "ops/node_traits.h"
#include "rewrite/slices.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

bool slices_open_axis(const Graph& graph, const Node& node, const GraphFacts& facts) {
  if (node.op != "Slice" || node.inputs.empty() || node.inputs[0] == kNoValue) return false;
  const auto& shape = facts.types[static_cast<size_t>(node.inputs[0])].shape;
  const auto axes = shape ? sliced_axes(graph, node, shape->size()) : std::nullopt;
  return !axes || std::ranges::any_of(*axes, [&](size_t axis) { return !(*shape)[axis].is_known(); });
}

}  // namespace

std::vector<bool> assumed_shapes(const Graph& graph, const GraphFacts& facts) {
  std::vector<bool> assumed(graph.values().size(), false);
  // Bodies of control flow see what the graph around them assumes.
  for (const Capture& capture : graph.captures) assumed[static_cast<size_t>(capture.inner)] = true;
  for (const Node& node : graph.nodes()) {
    const bool here = slices_open_axis(graph, node, facts) || has_subgraph(node) ||
                      std::ranges::any_of(
                          node.inputs, [&](ValueId id) { return id != kNoValue && assumed[static_cast<size_t>(id)]; });
    for (const ValueId id : node.outputs)
      if (id != kNoValue && here) assumed[static_cast<size_t>(id)] = true;
  }
  return assumed;
}

}  // namespace attune::rewrite
