#include "rewrite/name_activations.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/match.h"
#include "rewrite/polynomial.h"
#include "rewrite/remove_dead.h"

#include <cmath>

namespace attune::rewrite {
namespace {

constexpr int kOpset = 24;  // the first that has Gelu, HardSwish and Swish

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

std::optional<Node> match_gelu(const Graph& graph, const Matcher& match, const Node& last) {
  constexpr double kTanhFactor = M_2_SQRTPI * M_SQRT1_2;  // sqrt(2 / pi)
  const auto gate = half_gate(match, last);
  if (!gate) return std::nullopt;
  const auto takes = [&](const char* op, const std::array<double, 4>& argument) {
    const Node* node = match.made_by(gate->f, op);
    const auto given = node ? polynomial_of(graph, node->inputs[0], gate->x) : std::nullopt;
    return given && given->is(argument);
  };
  if (takes("Erf", {0, M_SQRT1_2, 0, 0}))
    return activation(last, "Gelu", gate->x, {{"approximate", std::string("none")}});
  if (takes("Tanh", {0, kTanhFactor, 0, kTanhFactor * 0.044715}))
    return activation(last, "Gelu", gate->x, {{"approximate", std::string("tanh")}});
  return std::nullopt;
}

/// x * Sigmoid(x), also of x times a number, and x * HardSigmoid(x, 1/6, 1/2).
std::optional<Node> match_swish(const Graph& graph, const Matcher& match, const Node& last) {
  if (last.op != "Mul" || last.inputs.size() != 2) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId x = last.inputs[i], gate = last.inputs[1 - i];
    const Node* sigmoid = match.made_by(gate, "Sigmoid");
    const auto given = sigmoid ? polynomial_of(graph, sigmoid->inputs[0], x) : std::nullopt;
    if (given && given->coefficients[1] != 0 && given->is({0, given->coefficients[1], 0, 0}))
      return activation(last, "Swish", x, {{"alpha", static_cast<float>(given->coefficients[1])}});
    const Node* hard = match.made_by(gate, "HardSigmoid");
    if (hard && hard->inputs[0] == x &&
        std::fabs(attribute_or<float>(hard->attributes, "alpha", 0.2f) - 1.0f / 6) < 1e-4f &&
        attribute_or<float>(hard->attributes, "beta", 0.5f) == 0.5f)
      return activation(last, "HardSwish", x);
  }
  return std::nullopt;
}

/// clip(x + 3, 0, 6) / 6, which is HardSigmoid; with x multiplied before the division, HardSwish.
std::optional<Node> match_divided_clip(const Matcher& match, const Node& last) {
  const auto product = match.divided(last.outputs[0], 6.0);
  if (!product) return std::nullopt;
  const auto shifted = [&](ValueId id) {
    const auto sum = match.clipped(id, 0, 6);
    return sum ? match.applied(*sum, "Add", 3.0) : std::nullopt;
  };
  if (const auto x = shifted(*product))
    return activation(last, "HardSigmoid", *x, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
  if (const Node* times = match.made_by(*product, "Mul"))
    for (size_t i = 0; i < 2; ++i)
      if (shifted(times->inputs[i]) == times->inputs[1 - i]) return activation(last, "HardSwish", times->inputs[1 - i]);
  return std::nullopt;
}

/// x * tanh(log(1 + exp(x))), the logarithm named or not.
std::optional<Node> match_mish(const Matcher& match, const Node& last) {
  if (last.op != "Mul" || last.inputs.size() != 2) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId x = last.inputs[1 - i];
    const Node* tanh = match.made_by(last.inputs[i], "Tanh");
    if (tanh == nullptr) continue;
    const Node* soft = match.made_by(tanh->inputs[0], "Softplus");
    const Node* log = match.made_by(tanh->inputs[0], "Log");
    const auto exponential = log ? match.applied(log->inputs[0], "Add", 1.0) : std::nullopt;
    const Node* exp = exponential ? match.made_by(*exponential, "Exp") : nullptr;
    if ((soft && soft->inputs[0] == x) || (exp && exp->inputs[0] == x)) return activation(last, "Mish", x);
  }
  return std::nullopt;
}

/// A scalar of many ones in a spelling gives its result more dims than x has; an activation would not.
bool keeps_type(const GraphFacts& facts, const Node& node) {
  const ValueType& x = facts.types[static_cast<size_t>(node.inputs[0])];
  const ValueType& y = facts.types[static_cast<size_t>(node.outputs[0])];
  return x.dtype == y.dtype && x.shape && y.shape && *x.shape == *y.shape;
}

}  // namespace

int name_activations(Graph& graph) {
  GraphFacts facts;
  try {
    facts = infer_graph(graph);
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
  const Matcher match(graph);
  int changes = 0;
  for (Node& node : graph.nodes()) {
    if (!node.domain.empty() || node.outputs.size() != 1) continue;
    auto named = match_gelu(graph, match, node);
    if (!named) named = match_divided_clip(match, node);
    if (!named) named = match_swish(graph, match, node);
    if (!named) named = match_mish(match, node);
    if (!named || !keeps_type(facts, *named)) continue;
    node = std::move(*named);
    ++changes;
  }
  if (changes > 0) remove_dead(graph);  // what is left of the spelling would count as a reader
  return changes;
}

}  // namespace attune::rewrite
