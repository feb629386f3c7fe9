#include "rewrite/remove_identities.h"

#include "ops/infer_graph.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

bool only_forwards(const Graph& graph, const Node& node, const GraphFacts& facts) {
  if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == kNoValue) return false;
  if (node.op == "Identity") return true;
  if (node.op == "Dropout") {
    const bool wants_mask = node.outputs.size() > 1 && node.outputs[1] != kNoValue;
    const bool may_train = node.inputs.size() > 2 && node.inputs[2] != kNoValue && scalar_input(graph, node, 2) != 0.0;
    return !wants_mask && !may_train;
  }
  if (node.op == "Cast") {
    const ValueType& from = facts.types[static_cast<size_t>(node.inputs[0])];
    const ValueType& to = facts.types[static_cast<size_t>(node.outputs[0])];
    return from.dtype != DType::undefined && from.dtype == to.dtype;
  }
  return false;
}

}  // namespace

int remove_identities(Graph& graph) {
  GraphFacts facts;
  try {
    facts = infer_graph(graph);
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
  std::vector<bool> removed(graph.nodes().size(), false);
  int changes = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!only_forwards(graph, node, facts)) continue;
    const ValueId from = node.outputs[0], to = node.inputs[0];
    // An output keeps its name, so the node that gives it that name stays.
    if (std::find(graph.outputs.begin(), graph.outputs.end(), from) != graph.outputs.end()) continue;
    redirect(graph, from, to);
    removed[i] = true;
    ++changes;
  }
  if (changes > 0) erase_nodes(graph, removed);
  return changes;
}

}  // namespace attune::rewrite
