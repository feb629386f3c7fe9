#include "rewrite/polynomial.h"

#include "rewrite/uses.h"

#include <cmath>

namespace attune::rewrite {
namespace {

constexpr int kDeepest = 8;  // spellings are short, and a tree of shared values could double at every level

Polynomial sum(const Polynomial& a, const Polynomial& b, double sign) {
  Polynomial result{a.coefficients, a.narrow || b.narrow};
  for (size_t i = 0; i < b.coefficients.size(); ++i) result.coefficients[i] += sign * b.coefficients[i];
  return result;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial result{{}, a.narrow || b.narrow};
  for (size_t i = 0; i < a.coefficients.size(); ++i)
    for (size_t j = 0; j < b.coefficients.size(); ++j) {
      const double term = a.coefficients[i] * b.coefficients[j];
      if (term == 0) continue;
      if (i + j >= result.coefficients.size()) return std::nullopt;
      result.coefficients[i + j] += term;
    }
  return result;
}

std::optional<Polynomial> power(const Polynomial& base, double exponent) {
  if (exponent != 2 && exponent != 3) return std::nullopt;
  auto result = product(base, base);
  return exponent == 3 && result ? product(*result, base) : result;
}

class Reader {
 public:
  Reader(const Graph& graph, ValueId x) : graph_(graph), x_(x) {}

  std::optional<Polynomial> read(ValueId id, int depth) const {
    if (id == x_) return Polynomial{{0, 1, 0, 0}};
    if (id == kNoValue || depth > kDeepest) return std::nullopt;
    if (graph_.value(id).producer == kNoNode) return std::nullopt;
    const Node& node = graph_.node(graph_.value(id).producer);
    if (!node.domain.empty() || node.inputs.size() != 2) return std::nullopt;
    if (node.op == "Pow" || node.op == "Div") {
      const auto base = operand(node, 0, depth);
      const auto number = scalar_input(graph_, node, 1);
      if (!base || !number) return std::nullopt;
      return node.op == "Pow" ? power(*base, *number) : product(*base, constant(node, 1, 1 / *number));
    }
    if (node.op != "Add" && node.op != "Sub" && node.op != "Mul") return std::nullopt;
    const auto a = operand(node, 0, depth), b = operand(node, 1, depth);
    if (!a || !b) return std::nullopt;
    return node.op == "Mul" ? product(*a, *b) : sum(*a, *b, node.op == "Add" ? 1 : -1);
  }

 private:
  Polynomial constant(const Node& node, size_t i, double number) const {
    return {{number, 0, 0, 0}, bit_width(constant_input(graph_, node, i)->dtype()) <= 16};
  }

  std::optional<Polynomial> operand(const Node& node, size_t i, int depth) const {
    if (const auto number = scalar_input(graph_, node, i)) return constant(node, i, *number);
    return read(node.inputs[i], depth + 1);
  }

  const Graph& graph_;
  ValueId x_;
};

}  // namespace

bool Polynomial::is(const std::array<double, 4>& wanted) const {
  for (size_t i = 0; i < wanted.size(); ++i) {
    // Asked this way round, a coefficient that is no number is none of those wanted.
    if (!(std::fabs(coefficients[i] - wanted[i]) <= (narrow ? 1e-2 : 2e-4) * std::fabs(wanted[i]))) return false;
  }
  return true;
}

std::optional<Polynomial> polynomial_of(const Graph& graph, ValueId id, ValueId x) {
  return Reader(graph, x).read(id, 0);
}

}  // namespace attune::rewrite
