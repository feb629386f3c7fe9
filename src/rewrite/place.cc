#include "rewrite/place.h"

#include <algorithm>
#include <set>

namespace attune::rewrite {

PlacePart part_of(const Node& node) {
  return {node.name, node.domain.empty() ? node.op : node.domain + "::" + node.op};
}

std::vector<PlacePart> nodes_between(const Graph& graph, std::span<const ValueId> sources, ValueId result) {
  std::set<NodeId> found;
  std::vector<ValueId> open = {result};
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (value == kNoValue || std::ranges::find(sources, value) != sources.end()) continue;
    const NodeId producer = graph.value(value).producer;
    if (producer == kNoNode || !found.insert(producer).second) continue;
    const auto& inputs = graph.node(producer).inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
  std::vector<PlacePart> parts;
  for (const NodeId id : found) parts.push_back(part_of(graph.node(id)));
  return parts;
}

}  // namespace attune::rewrite
