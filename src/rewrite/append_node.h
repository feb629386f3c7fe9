// New nodes for a graph whose nodes are being listed anew.
#pragma once

#include "graph/graph.h"

#include <string>
#include <vector>

namespace attune::rewrite {

/// What a new node of ai.onnx computes.
struct NewNode {
  std::string name;
  const char* op = "";
  int version = 0;
  std::vector<ValueId> inputs;
  Attributes attributes = {};
};

/// Appends it with one output, a new value under its name, which is returned.
ValueId append_node(Graph& graph, std::vector<Node>& nodes, NewNode wanted);

}  // namespace attune::rewrite
