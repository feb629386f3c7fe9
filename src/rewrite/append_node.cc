#include "rewrite/append_node.h"

namespace attune::rewrite {

ValueId append_node(Graph& graph, std::vector<Node>& nodes, NewNode wanted) {
  Value value;
  value.name = wanted.name;
  Node node;
  node.name = std::move(wanted.name);
  node.op = wanted.op;
  node.version = wanted.version;
  node.inputs = std::move(wanted.inputs);
  node.attributes = std::move(wanted.attributes);
  node.outputs = {graph.add_value(std::move(value))};
  nodes.push_back(std::move(node));
  return nodes.back().outputs[0];
}

}  // namespace attune::rewrite
