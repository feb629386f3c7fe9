// Who reads what in a graph: the question every pattern asks.
#pragma once

#include "graph/graph.h"

#include <vector>

namespace attune::rewrite {

class Uses {
 public:
  explicit Uses(const Graph& graph);

  /// Reads by nodes, by their subgraphs and as a graph output.
  int count(ValueId id) const { return counts_[static_cast<size_t>(id)]; }
  /// The one node that reads a value, when nothing else does; kNoNode otherwise.
  NodeId only_reader(ValueId id) const { return count(id) == 1 ? readers_[static_cast<size_t>(id)] : kNoNode; }

 private:
  std::vector<int> counts_;
  std::vector<NodeId> readers_;  // the last node seen to read a value itself; kNoNode for outputs and subgraphs
};

/// Makes every reader of `from` read `to` instead: nodes, captures of subgraphs, not graph outputs.
void redirect(Graph& graph, ValueId from, ValueId to);

/// Removes the nodes whose position is marked.
void erase_nodes(Graph& graph, const std::vector<bool>& marked);

/// The constant behind an input, or nullptr.
const Tensor* constant_input(const Graph& graph, const Node& node, size_t i);
/// The only element of a constant as a number; nothing for anything else.
std::optional<double> scalar_input(const Graph& graph, const Node& node, size_t i);

}  // namespace attune::rewrite
