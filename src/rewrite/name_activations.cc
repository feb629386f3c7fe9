#include "rewrite/name_activations.h"

#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <cmath>

namespace attune::rewrite {
namespace {

constexpr int kOpset = 24;  // the first that has Gelu, HardSwish and Swish

/// Looks at the nodes behind values.
class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  const Node* made_by(ValueId id, std::string_view op) const {
    if (id == kNoValue || graph_.value(id).producer == kNoNode) return nullptr;
    const Node& node = graph_.node(graph_.value(id).producer);
    return node.domain.empty() && node.op == op ? &node : nullptr;
  }

  /// The other operand of a binary node one of whose operands is the number (to about float precision).
  std::optional<ValueId> beside(const Node& node, double number) const {
    if (node.inputs.size() != 2) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const auto scalar = scalar_input(graph_, node, i);
      if (scalar && std::fabs(*scalar - number) <= 1e-3 * std::fabs(number) + 1e-9) return node.inputs[1 - i];
    }
    return std::nullopt;
  }
  /// The other operand of a commutative node one of whose operands is the value.
  static std::optional<ValueId> beside(const Node& node, ValueId value) {
    if (node.inputs.size() != 2) return std::nullopt;
    if (node.inputs[0] == value) return node.inputs[1];
    if (node.inputs[1] == value) return node.inputs[0];
    return std::nullopt;
  }
  /// The operand x of op(x, number), in that order for Div, Sub and Pow.
  std::optional<ValueId> applied(ValueId id, std::string_view op, double number) const {
    const Node* node = made_by(id, op);
    if (node == nullptr) return std::nullopt;
    if (op == "Mul" || op == "Add") return beside(*node, number);
    const auto scalar = scalar_input(graph_, *node, 1);
    if (scalar && std::fabs(*scalar - number) <= 1e-3 * std::fabs(number)) return node->inputs[0];
    return std::nullopt;
  }

 private:
  const Graph& graph_;
};

/// What f is in x * 0.5 * (1 + f), whichever way the three factors were multiplied.
struct HalfGate {
  ValueId x, f;
};

std::optional<HalfGate> half_gate(const Matcher& match, const Node& last) {
  if (last.op != "Mul" || last.inputs.size() != 2) return std::nullopt;
  const auto one_plus = [&](ValueId id) { return match.applied(id, "Add", 1.0); };
  // (x * (1 + f)) * 0.5
  if (const auto inner = match.beside(last, 0.5)) {
    if (const Node* product = match.made_by(*inner, "Mul"))
      for (size_t i = 0; i < 2; ++i)
        if (const auto f = one_plus(product->inputs[i])) return HalfGate{product->inputs[1 - i], *f};
  }
  for (size_t i = 0; i < 2; ++i) {
    // (x * 0.5) * (1 + f)
    const auto f = one_plus(last.inputs[i]);
    const auto x = match.applied(last.inputs[1 - i], "Mul", 0.5);
    if (f && x) return HalfGate{*x, *f};
    // x * ((1 + f) * 0.5)
    const auto gate = match.applied(last.inputs[i], "Mul", 0.5);
    const auto inner = gate ? one_plus(*gate) : std::nullopt;
    if (inner) return HalfGate{last.inputs[1 - i], *inner};
  }
  return std::nullopt;
}

bool is_cube(const Matcher& match, ValueId id, ValueId x) {
  if (match.applied(id, "Pow", 3.0) == x) return true;
  const Node* product = match.made_by(id, "Mul");
  const auto square = product ? Matcher::beside(*product, x) : std::nullopt;
  const Node* squared = square ? match.made_by(*square, "Mul") : nullptr;
  return squared && squared->inputs[0] == x && squared->inputs[1] == x;
}

/// sqrt(2/pi) * (x + 0.044715 * x^3)
bool is_tanh_argument(const Matcher& match, ValueId id, ValueId x) {
  const auto sum = match.applied(id, "Mul", std::sqrt(2.0 / M_PI));
  const Node* add = sum ? match.made_by(*sum, "Add") : nullptr;
  const auto term = add ? Matcher::beside(*add, x) : std::nullopt;
  const auto cube = term ? match.applied(*term, "Mul", 0.044715) : std::nullopt;
  return cube && is_cube(match, *cube, x);
}

Node activation(const Node& last, const char* op, ValueId x, Attributes attributes = {}) {
  Node node;
  node.name = last.name;
  node.op = op;
  node.version = kOpset;
  node.inputs = {x};
  node.outputs = last.outputs;
  node.attributes = std::move(attributes);
  return node;
}

std::optional<Node> match_gelu(const Matcher& match, const Node& last) {
  const auto gate = half_gate(match, last);
  if (!gate) return std::nullopt;
  if (const Node* erf = match.made_by(gate->f, "Erf")) {
    const bool scaled = match.applied(erf->inputs[0], "Div", M_SQRT2) == gate->x ||
                        match.applied(erf->inputs[0], "Mul", M_SQRT1_2) == gate->x;
    if (scaled) return activation(last, "Gelu", gate->x, {{"approximate", std::string("none")}});
  }
  if (const Node* tanh = match.made_by(gate->f, "Tanh"))
    if (is_tanh_argument(match, tanh->inputs[0], gate->x))
      return activation(last, "Gelu", gate->x, {{"approximate", std::string("tanh")}});
  return std::nullopt;
}

/// x * Sigmoid(x) and x * HardSigmoid(x, 1/6, 1/2).
std::optional<Node> match_swish(const Matcher& match, const Node& last) {
  if (last.op != "Mul" || last.inputs.size() != 2) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId x = last.inputs[i], gate = last.inputs[1 - i];
    if (const Node* sigmoid = match.made_by(gate, "Sigmoid"); sigmoid && sigmoid->inputs[0] == x)
      return activation(last, "Swish", x, {{"alpha", 1.0f}});
    const Node* hard = match.made_by(gate, "HardSigmoid");
    if (hard && hard->inputs[0] == x &&
        std::fabs(attribute_or<float>(hard->attributes, "alpha", 0.2f) - 1.0f / 6) < 1e-4f &&
        attribute_or<float>(hard->attributes, "beta", 0.5f) == 0.5f)
      return activation(last, "HardSwish", x);
  }
  return std::nullopt;
}

/// x * clip(x + 3, 0, 6) / 6, as Paddle writes it.
std::optional<Node> match_divided_clip(const Graph& graph, const Matcher& match, const Node& last) {
  if (last.op != "Div" || last.inputs.size() != 2 || scalar_input(graph, last, 1) != 6.0) return std::nullopt;
  const Node* product = match.made_by(last.inputs[0], "Mul");
  if (product == nullptr || product->inputs.size() != 2) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const Node* clip = match.made_by(product->inputs[i], "Clip");
    if (clip == nullptr) continue;
    const bool as_inputs =
        clip->inputs.size() == 3 && scalar_input(graph, *clip, 1) == 0.0 && scalar_input(graph, *clip, 2) == 6.0;
    const bool as_attributes = clip->inputs.size() == 1 && attribute_or<float>(clip->attributes, "min", -1) == 0.0f &&
                               attribute_or<float>(clip->attributes, "max", -1) == 6.0f;
    const ValueId x = product->inputs[1 - i];
    if ((as_inputs || as_attributes) && match.applied(clip->inputs[0], "Add", 3.0) == x)
      return activation(last, "HardSwish", x);
  }
  return std::nullopt;
}

}  // namespace

int name_activations(Graph& graph) {
  const Matcher match(graph);
  int changes = 0;
  for (Node& node : graph.nodes()) {
    if (!node.domain.empty()) continue;
    auto named = match_gelu(match, node);
    if (!named) named = match_swish(match, node);
    if (!named) named = match_divided_clip(graph, match, node);
    if (!named) continue;
    node = std::move(*named);
    ++changes;
  }
  return changes;
}

}  // namespace attune::rewrite
