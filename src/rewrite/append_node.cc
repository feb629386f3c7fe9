#include "rewrite/append_node.h"

namespace attune::rewrite {

ValueId append_node(Graph& graph, std::vector<Node>& nodes, Node node) {
  Value value;
  value.name = node.name;
  node.outputs = {graph.add_value(std::move(value))};
  nodes.push_back(std::move(node));
  return nodes.back().outputs[0];
}

}  // namespace attune::rewrite
