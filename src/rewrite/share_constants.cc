#include "rewrite/share_constants.h"

namespace attune::rewrite {

int share_constants(Graph& graph) {
  int changes = 0;
  for (Node& node : graph.nodes())
    for (auto& [name, attribute] : node.attributes) {
      const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute);
      if (body == nullptr) continue;
      Graph& inner = **body;
      changes += static_cast<int>(std::erase_if(inner.captures, [&](const Capture& capture) {
        const Value& outer = graph.value(capture.outer);
        if (!outer.is_constant()) return false;
        Value& value = inner.value(capture.inner);
        value.constant = outer.constant;
        value.dtype = outer.constant.dtype();
        value.shape = to_shape(outer.constant.dims());
        return true;
      }));
      changes += share_constants(inner);
    }
  return changes;
}

}  // namespace attune::rewrite
