// Nodes that can be steps of attune::FusedVector: the functions of single elements, softmax and normalisations over the
// last axis.
#pragma once

#include "ops/infer_graph.h"
#include "ops/vector_program.h"

namespace attune::rewrite {

/// A node as a step. Where an operand is a value of the graph, `values` has it and the operand itself is still open.
struct DrawnStep {
  VectorStep step;
  std::vector<ValueId> values;  // kNoValue for numbers
};

/// Every dim of `other` is 1 or that of `result` at the same place from the right, provably.
bool spreads_over(const Shape& other, const Shape& result);

/// Nothing for nodes that are no step: other operators, other types than f32 and bf16, operands of unknown rank.
std::optional<DrawnStep> as_vector_step(const Graph& graph, const GraphFacts& facts, const Node& node);

}  // namespace attune::rewrite
