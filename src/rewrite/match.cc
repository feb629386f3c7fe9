#include "rewrite/match.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <algorithm>
#include <cmath>

namespace attune::rewrite {

const Node* Matcher::made_by(ValueId id, std::string_view op) const {
  if (id == kNoValue || graph_.value(id).producer == kNoNode) return nullptr;
  const Node& node = graph_.node(graph_.value(id).producer);
  return node.domain.empty() && node.op == op ? &node : nullptr;
}

bool Matcher::is_number(const Node& node, size_t i, double number) const {
  const auto scalar = scalar_input(graph_, node, i);
  if (!scalar) return false;
  if (2 * number == std::round(2 * number)) return *scalar == number;
  const bool narrow = bit_width(constant_input(graph_, node, i)->dtype()) <= 16;
  return std::fabs(*scalar - number) <= (narrow ? 4e-3 : 1e-4) * std::fabs(number);
}

std::optional<ValueId> Matcher::beside(const Node& node, double number) const {
  if (node.inputs.size() != 2) return std::nullopt;
  for (size_t i = 0; i < 2; ++i)
    if (is_number(node, i, number)) return node.inputs[1 - i];
  return std::nullopt;
}

std::optional<ValueId> Matcher::beside(const Node& node, ValueId value) {
  if (node.inputs.size() != 2) return std::nullopt;
  if (node.inputs[0] == value) return node.inputs[1];
  if (node.inputs[1] == value) return node.inputs[0];
  return std::nullopt;
}

std::optional<ValueId> Matcher::applied(ValueId id, std::string_view op, double number) const {
  const Node* node = made_by(id, op);
  if (node == nullptr) return std::nullopt;
  if (op == "Mul" || op == "Add") return beside(*node, number);
  return is_number(*node, 1, number) ? std::optional(node->inputs[0]) : std::nullopt;
}

std::optional<ValueId> Matcher::divided(ValueId id, double number) const {
  if (const auto x = applied(id, "Div", number)) return x;
  return applied(id, "Mul", 1 / number);
}

std::optional<ValueId> Matcher::clipped(ValueId id, double low, double high) const {
  const Node* clip = made_by(id, "Clip");
  if (clip == nullptr) return std::nullopt;
  const bool as_inputs = clip->inputs.size() == 3 && is_number(*clip, 1, low) && is_number(*clip, 2, high);
  const float nowhere = std::nanf("");
  const bool as_attributes = clip->inputs.size() == 1 &&
                             attribute_or<float>(clip->attributes, "min", nowhere) == static_cast<float>(low) &&
                             attribute_or<float>(clip->attributes, "max", nowhere) == static_cast<float>(high);
  return as_inputs || as_attributes ? std::optional(clip->inputs[0]) : std::nullopt;
}

std::optional<std::vector<int64_t>> constant_ints(const Graph& graph, const Node& node, size_t i) {
  const Tensor* tensor = constant_input(graph, node, i);
  if (tensor == nullptr || is_float(tensor->dtype())) return std::nullopt;
  std::vector<int64_t> values;
  for (int64_t k = 0; k < tensor->count(); ++k) values.push_back(element_as_int(*tensor, k));
  return values;
}

std::optional<std::vector<int64_t>> axes_of(const Graph& graph, const Node& node) {
  if (const auto found = node.attributes.find("axes"); found != node.attributes.end())
    if (const auto* axes = std::get_if<std::vector<int64_t>>(&found->second)) return *axes;
  return constant_ints(graph, node, 1);
}

}  // namespace attune::rewrite
