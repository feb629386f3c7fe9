#include "space/random_space.h"

#include "base/error.h"

namespace attune::testing {
namespace {

Param add_parameter(Space& space, Random& random, const std::string& name) {
  switch (random.below(5)) {
    case 0: return space.power_of_two(name, 1, int64_t{1} << random.below(5));
    case 1: return space.boolean(name);
    case 2: return space.categorical(name, {"x", "y", "z"});
    case 3: return space.permutation(name, {"m", "n", "k"});
    default: {
      std::vector<int64_t> values;
      for (int64_t value = -2; value < 9; ++value)
        if (random.below(2) == 0) values.push_back(value);
      values.push_back(11);
      return space.ordinal(name, values);
    }
  }
}

Expr random_operand(Random& random, const std::vector<Param>& parameters) {
  if (random.below(4) == 0) return random.below(9) - 1;
  const Param& parameter = parameters[static_cast<size_t>(random.below(static_cast<int64_t>(parameters.size())))];
  if (parameter.parameter().kind == ParameterKind::permutation && random.below(2) == 0) return parameter.position("n");
  return parameter;
}

Expr random_term(Random& random, const std::vector<Param>& parameters) {
  const Expr a = random_operand(random, parameters), b = random_operand(random, parameters);
  switch (random.below(8)) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a / b;
    case 4: return a % b;
    case 5: return min(a, b);
    case 6: return ceil_div(a, b);
    default: return max(a, b) * random_operand(random, parameters);
  }
}

/// A function over some of the parameters, in any order.
Expr random_call(Random& random, const std::vector<Param>& parameters) {
  std::vector<Param> chosen;
  std::string text = "sum of";
  for (const Param& parameter : parameters)
    if (random.below(3) != 0) {
      chosen.insert(random.below(2) == 0 ? chosen.begin() : chosen.end(), parameter);
      text += " " + parameter.parameter().name;
    }
  if (chosen.empty()) chosen.push_back(parameters.back());
  const auto is_allowed = [](std::span<const int64_t> numbers) {
    int64_t sum = 0;
    for (const int64_t number : numbers) sum += number;
    return sum % 3 != 0;
  };
  return call(chosen, is_allowed, text);
}

Expr random_constraint(Random& random, const std::vector<Param>& parameters) {
  if (random.below(8) == 0) return random_call(random, parameters);
  const Expr a = random_term(random, parameters), b = random_term(random, parameters);
  switch (random.below(9)) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return a < b;
    case 3: return a <= b || random_operand(random, parameters) == 1;
    case 4: return a > b && random_operand(random, parameters) < 5;
    case 5: return !(a >= b);
    case 6:
      if (parameters[0].parameter().kind == ParameterKind::categorical) return parameters[0] == "y" || a < b;
      return a >= b;
    default: return a <= b;
  }
}

/// Every combination of choices, absence included where it is possible.
void visit_all(const Space& space, size_t from, Point& point, const std::function<void()>& visit) {
  if (from == point.size()) return visit();
  const size_t choices = space.parameters()[from]->texts.size();
  for (size_t choice = 0; choice <= choices; ++choice) {
    if (choice == choices && !space.is_conditional(from)) continue;
    point[from] = choice == choices ? kAbsent : static_cast<ValueIndex>(choice);
    visit_all(space, from + 1, point, visit);
  }
}

}  // namespace

RandomSpace make_random_space(uint64_t seed) {
  Random random(seed);
  RandomSpace result;
  Space& space = result.space;
  std::vector<Param> parameters;
  const int64_t count = 2 + random.below(4);
  for (int64_t i = 0; i < count; ++i) parameters.push_back(add_parameter(space, random, fmt::format("p{}", i)));
  std::vector<Expr> constraints;
  for (int64_t i = random.below(5); i > 0; --i) constraints.push_back(random_constraint(random, parameters));
  for (const Expr& constraint : constraints) space.require(constraint);
  if (random.below(3) == 0) {
    const Expr condition = random_operand(random, {parameters[0], parameters[1]}) >= 1;
    const bool is_own = condition.node().parameters == std::vector<int>{1} || condition.node().parameters.size() == 2;
    const Param& target = parameters.back();
    if (!is_own || parameters.size() > 2) {
      space.only_if(target, condition);
      constraints.push_back(presence_follows(target, condition));
    }
  }
  for (const Expr& constraint : constraints) result.text += constraint.node().text + "\n";

  Point point(space.parameters().size());
  visit_all(space, 0, point, [&] {
    for (const Expr& constraint : constraints)
      for (const Expr& part : conjuncts(constraint))
        if (!holds(evaluate(part.node(), point))) return;
    result.points.insert(space.config_of(point));
  });
  space.set_default(result.points.empty() ? Config{} : *result.points.begin());
  space.build();
  return result;
}

}  // namespace attune::testing
