#include "rewrite/forget_constants.h"

#include "rewrite/uses.h"

namespace attune::rewrite {

int forget_constants(Graph& graph) {
  const Uses uses(graph);
  int changes = 0;
  for (size_t i = 0; i < graph.values().size(); ++i) {
    Value& value = graph.values()[i];
    if (!value.is_constant() || uses.count(static_cast<ValueId>(i)) > 0) continue;
    value.constant.release_pages();
    value.constant = Tensor();
    ++changes;
  }
  return changes;
}

}  // namespace attune::rewrite
