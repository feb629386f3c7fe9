#include "rewrite/remove_dead.h"

#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {

int remove_dead(Graph& graph) {
  int changes = 0;
  // Backwards, so that a chain of unread nodes goes in one sweep.
  std::vector<bool> live(graph.values().size(), false), dead(graph.nodes().size(), false);
  for (const ValueId id : graph.outputs) live[static_cast<size_t>(id)] = true;
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    const bool read = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](ValueId id) { return id != kNoValue && live[static_cast<size_t>(id)]; });
    if (!read) {
      dead[i] = true;
      ++changes;
      continue;
    }
    for (const ValueId id : node.inputs)
      if (id != kNoValue) live[static_cast<size_t>(id)] = true;
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for (const Capture& capture : (*body)->captures) live[static_cast<size_t>(capture.outer)] = true;
  }
  if (changes > 0) erase_nodes(graph, dead);
  return changes;
}

}  // namespace attune::rewrite
