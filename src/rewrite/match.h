// Looks backwards from values at the nodes that made them: what patterns spelled out in primitives are found with.
#pragma once

#include "graph/graph.h"

#include <optional>
#include <string_view>
#include <vector>

namespace attune::rewrite {

class Matcher {
 public:
  /// The graph must outlive the matcher; nodes may be replaced in place meanwhile.
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  /// The node of ai.onnx that made a value, if it is this operator; nullptr otherwise.
  const Node* made_by(ValueId id, std::string_view op) const;

  /// The other operand of a binary node one of whose operands is the number.
  std::optional<ValueId> beside(const Node& node, double number) const;
  /// The other operand of a binary node one of whose operands is the value.
  static std::optional<ValueId> beside(const Node& node, ValueId value);
  /// The operand x of op(x, number), in that order for Div, Sub and Pow.
  std::optional<ValueId> applied(ValueId id, std::string_view op, double number) const;
  /// The operand x of x / number, also where it is written as a multiplication by the inverse.
  std::optional<ValueId> divided(ValueId id, double number) const;
  /// The operand x of clip(x, low, high).
  std::optional<ValueId> clipped(ValueId id, double low, double high) const;

  /// Whether input i is a constant of one element that is this number. Whole numbers and halves are meant exactly;
  /// other numbers as far as exporters write them, and as the constant's type holds them.
  bool is_number(const Node& node, size_t i, double number) const;

 private:
  const Graph& graph_;
};

/// The elements of a constant input of integers; nothing when it is not given or not constant.
std::optional<std::vector<int64_t>> constant_ints(const Graph& graph, const Node& node, size_t i);

/// The axes of a reduction, Squeeze or Unsqueeze, as an attribute or as a constant input; nothing when they are not
/// known, which includes axes that were left out.
std::optional<std::vector<int64_t>> axes_of(const Graph& graph, const Node& node);

}  // namespace attune::rewrite
