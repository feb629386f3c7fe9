// Static analysis of a whole graph: dtypes, symbolic shapes, and the contents that shape arithmetic needs.
#pragma once

#include "graph/graph.h"
#include "ops/op.h"

#include <map>
#include <string>
#include <vector>

namespace attune {

struct InferOptions {
  /// Shapes for graph inputs, by name; they replace the declared ones.
  std::map<std::string, Dims> input_shapes;
  /// Types of inputs and captures, by value; they replace the declared ones.
  std::map<ValueId, ValueType> types;
  /// Contents of inputs and captures that hold for this analysis.
  std::map<ValueId, Tensor> contents;
};

/// What is known of each value of a graph, by ValueId.
struct GraphFacts {
  std::vector<ValueType> types;
  std::vector<Tensor> constants;                          // empty() where the contents are not known
  std::vector<std::optional<std::vector<Dim>>> contents;  // small integer contents, symbols allowed
};

/// Infers without changing the graph. Throws UserError on a model whose shapes or types contradict each other and
/// UnsupportedError on an operator without definition.
GraphFacts infer_graph(const Graph& graph, const InferOptions& options = {});

/// Writes dtypes and shapes into the graph's values.
void apply_facts(Graph& graph, const GraphFacts& facts);

/// Throws UnsupportedError for the first node, subgraphs included, whose operator is not defined or whose number of
/// inputs or outputs does not fit.
void check_operators(const Graph& graph);

}  // namespace attune
