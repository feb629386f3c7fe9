// Families of elementwise operators: activations by name and spelled out, arithmetic with broadcasts, casts.
#include "rewrite/random_graph/graph_sampler.h"

#include "ops/convert.h"

#include <cmath>

namespace attune::test {
namespace {

void sample_activation(GraphSampler& g) {
  const ValueId x = g.pick_float();
  switch (g.below(16)) {
    case 0: g.apply("Relu", {x}); break;
    case 1: g.apply("LeakyRelu", {x}, {{"alpha", 0.2f}}); break;
    case 2: g.apply("Sigmoid", {x}); break;
    case 3: g.apply("Tanh", {x}); break;
    case 4: g.apply("Elu", {x}, {{"alpha", 0.7f}}); break;
    case 5: g.apply("HardSigmoid", {x}); break;
    case 6: g.clip(x, -0.5, 1.5); break;
    case 7: g.apply("Softplus", {x}); break;
    case 8: g.apply("Erf", {x}); break;
    case 9: g.apply("Abs", {x}); break;
    case 10: g.apply("Neg", {x}); break;
    case 11: g.apply("Exp", {g.clip(x, -3, 2)}); break;
    case 12: g.apply("Sqrt", {g.apply("Add", {g.apply("Abs", {x}), g.number(0.5)})}); break;
    case 13: g.need_opset(14), g.apply("HardSwish", {x}); break;
    case 14: g.need_opset(18), g.apply("Mish", {x}); break;
    default: g.need_opset(20), g.apply("Gelu", {x}, {{"approximate", std::string(g.one_of({"none", "tanh"}))}});
  }
}

/// x op number, the number on either side of a commutative operator and in any scalar shape.
ValueId with_number(GraphSampler& g, const char* op, ValueId x, double value) {
  const ValueId number = g.number(value, g.scalar_dims(x));
  const bool commutes = std::string_view(op) == "Mul" || std::string_view(op) == "Add";
  return commutes && g.chance(0.4) ? g.apply(op, {number, x}) : g.apply(op, {x, number});
}

ValueId product(GraphSampler& g, ValueId a, ValueId b) {
  return g.chance(0.5) ? g.apply("Mul", {a, b}) : g.apply("Mul", {b, a});
}

/// x * 0.5 * (1 + f) in one of its orders.
void half_gate(GraphSampler& g, ValueId x, ValueId f) {
  const ValueId gate = with_number(g, "Add", f, 1);
  switch (g.below(3)) {
    case 0: with_number(g, "Mul", product(g, x, gate), 0.5); break;
    case 1: product(g, with_number(g, "Mul", x, 0.5), gate); break;
    default: product(g, x, with_number(g, "Mul", gate, 0.5));
  }
}

void sample_gelu(GraphSampler& g) {
  const ValueId x = g.pick_float();
  if (g.chance(0.5)) {
    const ValueId scaled =
        g.chance(0.5) ? with_number(g, "Div", x, std::sqrt(2.0)) : with_number(g, "Mul", x, std::sqrt(0.5));
    half_gate(g, x, g.apply("Erf", {scaled}));
    return;
  }
  const ValueId cube = g.chance(0.5) ? with_number(g, "Pow", x, 3) : product(g, x, g.apply("Mul", {x, x}));
  const ValueId sum = g.apply("Add", {x, with_number(g, "Mul", cube, 0.044715)});
  half_gate(g, x, g.apply("Tanh", {with_number(g, "Mul", sum, std::sqrt(2 / M_PI))}));
}

void sample_swish(GraphSampler& g) {
  const ValueId x = g.pick_float();
  switch (g.below(5)) {
    case 0: product(g, x, g.apply("Sigmoid", {x})); break;
    case 1: product(g, x, g.apply("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}})); break;
    case 2: with_number(g, "Div", product(g, x, g.clip(with_number(g, "Add", x, 3), 0, 6)), 6); break;
    case 3: product(g, x, with_number(g, "Div", g.clip(with_number(g, "Add", x, 3), 0, 6), 6)); break;
    default: with_number(g, "Mul", product(g, x, g.clip(with_number(g, "Add", x, 3), 0, 6)), 1.0 / 6);
  }
}

void sample_mish(GraphSampler& g) {
  const ValueId x = g.pick_float();
  const ValueId soft = g.chance(0.5) ? g.apply("Softplus", {x})
                                     : g.apply("Log", {with_number(g, "Add", g.apply("Exp", {g.clip(x, -9, 4)}), 1)});
  product(g, x, g.apply("Tanh", {soft}));
}

/// Dims that broadcast with those of a value, perhaps into something larger.
Dims broadcast_dims(GraphSampler& g, const Dims& dims) {
  Dims result = dims;
  for (int64_t& d : result)
    if (g.chance(0.5)) d = 1;
  while (!result.empty() && g.chance(0.3)) result.erase(result.begin());
  if (g.chance(0.1)) result.insert(result.begin(), g.between(1, 2));
  return result;
}

void sample_constant_operand(GraphSampler& g) {
  const ValueId x = g.pick_float();
  const Dims dims = g.chance(0.3) ? Dims{} : broadcast_dims(g, g.dims(x));
  const auto* op = g.one_of({"Add", "Add", "Mul", "Mul", "Sub", "Div", "Max", "Min"});
  const ValueId constant =
      g.chance(0.1) ? g.number(std::string_view(op) == "Add" ? 0 : 1, dims) : g.uniform(dims, 0.4, 1.6);
  const bool first = std::string_view(op) != "Div" && g.chance(0.4);
  first ? g.apply(op, {constant, x}) : g.apply(op, {x, constant});
}

bool broadcasts(const Dims& a, const Dims& b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i)
    if (a[a.size() - i] != b[b.size() - i] && a[a.size() - i] != 1 && b[b.size() - i] != 1) return false;
  return true;
}

void sample_two_values(GraphSampler& g) {
  const ValueId x = g.pick_float();
  const bool equal = g.chance(0.5);
  const Dims dims = g.dims(x);
  const ValueId y = g.pick([&](const Tensor& t) {
    return t.dtype() == DType::f32 && (equal ? t.dims() == dims : broadcasts(t.dims(), dims));
  });
  g.apply(g.one_of({"Add", "Add", "Mul", "Sub", "Max", "Min"}), {x, y});
}

/// Casts whose results do not hang on the last bit: to wider floats and back, to integers away from their edges.
void sample_cast(GraphSampler& g) {
  constexpr int64_t kFloat = 1, kInt32 = 6, kInt64 = 7, kBool = 9, kDouble = 11;
  const ValueId x = g.pick_float();
  const auto cast = [&](ValueId id, int64_t to) { return g.apply("Cast", {id}, {{"to", to}}); };
  switch (g.below(4)) {
    case 0: cast(x, kFloat); break;
    case 1: cast(g.apply("Add", {cast(x, kDouble), cast(x, kDouble)}), kFloat); break;
    case 2: cast(cast(x, kDouble), kFloat); break;
    default: {
      for (int64_t i = 0; i < g.tensor(x).count(); ++i) {
        const double value = element_as_double(g.tensor(x), i);
        g.need(std::fabs(value - std::round(value)) > 1e-2);
      }
      const int64_t kind = g.one_of({kInt32, kInt64, kBool});
      cast(cast(x, kind), kFloat);
    }
  }
}

/// Several functions of values of one shape, some of them read twice, perhaps with a softmax of the rows between.
void sample_chain(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  const Dims dims = g.dims(x);
  const ValueId other = g.pick([&](const Tensor& t) { return t.dtype() == DType::f32 && broadcasts(t.dims(), dims); });
  ValueId last = g.apply(g.one_of({"Add", "Sub", "Mul"}), {x, other}), before = last;
  g.need(g.dims(last) == dims);
  for (int64_t steps = g.between(1, 4); steps > 0; --steps) {
    const ValueId current = last;
    switch (g.below(7)) {
      case 0: last = with_number(g, "Mul", last, 0.5); break;
      case 1: last = g.apply("Tanh", {last}); break;
      case 2: last = g.apply("Max", {last, before}); break;
      case 3: last = g.clip(last, -1.5, 0.75); break;
      case 4: last = g.apply("Softmax", {last}, {{"axis", g.rank(last) - 1}}); break;
      case 5: last = with_number(g, "Pow", last, 2); break;
      default: last = g.apply("Add", {last, before});
    }
    before = current;
  }
}

void sample_where(GraphSampler& g) {
  const ValueId x = g.pick_float(1);
  for (int64_t i = 0; i < g.tensor(x).count(); ++i) g.need(std::fabs(element_as_double(g.tensor(x), i) - 0.25) > 1e-2);
  const ValueId positive = g.apply("Greater", {x, g.number(0.25)});
  g.apply("Where", {positive, x, g.chance(0.5) ? g.number(-1) : g.apply("Neg", {x})});
}

void sample_prelu(GraphSampler& g) {
  const ValueId x = g.pick_float(3, 4);
  Dims slope(g.dims(x).size() - 1, 1);
  slope[0] = g.dims(x)[1];
  g.apply("PRelu", {x, g.uniform(slope, 0.1, 0.5)});
}

void sample_forwarding(GraphSampler& g) {
  const ValueId x = g.pick_float();
  if (g.chance(0.5))
    g.apply("Identity", {x});
  else
    g.apply("Dropout", {x});
}

}  // namespace

std::vector<Family> elementwise_families() {
  return {{"activation", 8, sample_activation},
          {"gelu", 4, sample_gelu},
          {"swish", 5, sample_swish},
          {"mish", 3, sample_mish},
          {"constant_operand", 8, sample_constant_operand},
          {"two_values", 8, sample_two_values},
          {"cast", 4, sample_cast},
          {"chain", 5, sample_chain},
          {"where", 2, sample_where},
          {"prelu", 2, sample_prelu},
          {"forwarding", 4, sample_forwarding}};
}

}  // namespace attune::test
