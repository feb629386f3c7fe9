// How attune::FusedAttention reads one of its operands, found by walking back from the product that reads it.
#pragma once

#include "ops/fused_attention.h"
#include "ops/infer_graph.h"

namespace attune::rewrite {

struct AttentionOperand {
  ValueId source = kNoValue;
  HeadOrder order = HeadOrder::batch_rows_heads;
  int64_t column = 0;
  double scale = 1;  // of what was multiplied on the way
};

/// What the axes of the value that the product reads are.
struct OperandAxes {
  size_t batch = 0, head = 1, row = 2, element = 3;
};

/// Whether factors on the way from the source are allowed.
enum class Scaling : uint8_t { none, any };

/// The number that all elements of a constant are; nothing unless it has just one element.
std::optional<double> known_number(const GraphFacts& facts, ValueId id);

/// `x * number` or `x / number` as x and the factor; nothing for any other node.
struct Scaled {
  ValueId input = kNoValue;
  double factor = 1;
};
std::optional<Scaled> as_scaling(const GraphFacts& facts, const Node& node);

/// The farthest tensor that the operator can read the operand from; nothing when there is none.
std::optional<AttentionOperand> find_operand(const Graph& graph, const GraphFacts& facts, ValueId value,
                                             const OperandAxes& axes, Scaling scaling);

}  // namespace attune::rewrite
