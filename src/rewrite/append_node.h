// New nodes for a graph whose nodes are being listed anew.
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace attune::rewrite {

/// Appends a node of ai.onnx with one output, a new value under the name of the node.
ValueId append_node(Graph& graph, std::vector<Node>& nodes, Node node);

}  // namespace attune::rewrite
