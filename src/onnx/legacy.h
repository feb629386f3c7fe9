// Opsets before 7: broadcasting was an attribute, not a rule.
#pragma once

#include "graph/graph.h"

namespace attune::onnx_io {

/// Rewrites a node of opset 1 to 6 into its later form where the two differ in writing only (and adds helper nodes to
/// `graph` before it); throws UnsupportedError where they differ in meaning.
void upgrade_legacy_node(Node& node, Graph& graph);

}  // namespace attune::onnx_io
