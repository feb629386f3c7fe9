#include "space/expression.h"

#include "base/error.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace attune {
namespace {

struct OpStyle {
  std::string_view sign;
  int precedence;
};

OpStyle style_of(ExprOp op) {
  switch (op) {
    case ExprOp::add: return {" + ", 6};
    case ExprOp::subtract: return {" - ", 6};
    case ExprOp::multiply: return {" * ", 7};
    case ExprOp::divide: return {" / ", 7};
    case ExprOp::remainder: return {" % ", 7};
    case ExprOp::equal: return {" == ", 4};
    case ExprOp::not_equal: return {" != ", 4};
    case ExprOp::less: return {" < ", 5};
    case ExprOp::less_equal: return {" <= ", 5};
    case ExprOp::logic_and: return {" && ", 3};
    case ExprOp::logic_or: return {" || ", 2};
    default: return {"", 9};
  }
}

std::string_view function_name(ExprOp op) {
  switch (op) {
    case ExprOp::ceil_divide: return "ceil_div";
    case ExprOp::minimum: return "min";
    case ExprOp::maximum: return "max";
    case ExprOp::presence: return "there exactly if";
    default: return "not";
  }
}

std::vector<int> merge_parameters(const std::vector<std::shared_ptr<const ExprNode>>& operands) {
  std::vector<int> all;
  for (const auto& operand : operands) all.insert(all.end(), operand->parameters.begin(), operand->parameters.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Expr make_binary(ExprOp op, const Expr& a, const Expr& b) {
  ExprNode node;
  node.op = op;
  node.operands = {a.shared(), b.shared()};
  node.parameters = merge_parameters(node.operands);
  const auto [sign, precedence] = style_of(op);
  node.precedence = precedence;
  if (sign.empty()) {
    node.text = fmt::format("{}({}, {})", function_name(op), a.node().text, b.node().text);
  } else {
    const auto wrap = [](const ExprNode& operand, bool needs) {
      return needs ? "(" + operand.text + ")" : operand.text;
    };
    node.text = fmt::format("{}{}{}", wrap(a.node(), a.node().precedence < precedence), sign,
                            wrap(b.node(), b.node().precedence <= precedence));
  }
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr make_lookup(int index, std::vector<int64_t> numbers, std::string text) {
  ExprNode node;
  node.op = ExprOp::lookup;
  node.table = std::move(numbers);
  node.table.push_back(kAbsentValue);
  node.parameters = {index};
  node.text = std::move(text);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

}  // namespace

std::shared_ptr<const ExprNode> Expr::make_constant(int64_t value) {
  ExprNode node;
  node.constant = value;
  node.text = std::to_string(value);
  if (value < 0) node.precedence = 8;
  return std::make_shared<const ExprNode>(std::move(node));
}

Param::operator Expr() const { return make_lookup(index_, parameter_->numbers, parameter_->name); }

Expr Param::position(const std::string& item) const {
  return make_lookup(index_, parameter_->positions(item), fmt::format("{}.position({})", parameter_->name, item));
}

Expr operator+(const Expr& a, const Expr& b) { return make_binary(ExprOp::add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return make_binary(ExprOp::subtract, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return make_binary(ExprOp::multiply, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return make_binary(ExprOp::divide, a, b); }
Expr operator%(const Expr& a, const Expr& b) { return make_binary(ExprOp::remainder, a, b); }
Expr operator==(const Expr& a, const Expr& b) { return make_binary(ExprOp::equal, a, b); }
Expr operator!=(const Expr& a, const Expr& b) { return make_binary(ExprOp::not_equal, a, b); }
Expr operator<(const Expr& a, const Expr& b) { return make_binary(ExprOp::less, a, b); }
Expr operator<=(const Expr& a, const Expr& b) { return make_binary(ExprOp::less_equal, a, b); }
Expr operator>(const Expr& a, const Expr& b) { return make_binary(ExprOp::less, b, a); }
Expr operator>=(const Expr& a, const Expr& b) { return make_binary(ExprOp::less_equal, b, a); }
Expr operator&&(const Expr& a, const Expr& b) { return make_binary(ExprOp::logic_and, a, b); }
Expr operator||(const Expr& a, const Expr& b) { return make_binary(ExprOp::logic_or, a, b); }
Expr min(const Expr& a, const Expr& b) { return make_binary(ExprOp::minimum, a, b); }
Expr max(const Expr& a, const Expr& b) { return make_binary(ExprOp::maximum, a, b); }
Expr ceil_div(const Expr& a, const Expr& b) { return make_binary(ExprOp::ceil_divide, a, b); }

Expr operator!(const Expr& a) {
  ExprNode node;
  node.op = ExprOp::logic_not;
  node.operands = {a.shared()};
  node.parameters = a.node().parameters;
  node.precedence = 8;
  node.text = a.node().precedence < 8 ? "!(" + a.node().text + ")" : "!" + a.node().text;
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr has_text(const Param& parameter, std::string_view text) {
  const Parameter& definition = parameter.parameter();
  const auto choice = definition.find(std::string(text));
  if (!choice)
    throw UserError("parameter '{}' has no value '{}'; its values are {}", definition.name, text,
                    fmt::join(definition.texts, ", "));
  // One table of 0 and 1: it reads as written, and needs no number for the text.
  std::vector<int64_t> table(definition.texts.size(), 0);
  table[*choice] = 1;
  return make_lookup(parameter.index(), std::move(table), fmt::format("{} == '{}'", definition.name, text));
}

Expr presence_follows(const Param& parameter, const Expr& condition) {
  std::vector<int64_t> there(parameter.parameter().numbers.size(), 1);
  ExprNode node;
  node.op = ExprOp::presence;
  node.operands = {make_lookup(parameter.index(), std::move(there), parameter.parameter().name + " is there").shared(),
                   condition.shared()};
  node.parameters = merge_parameters(node.operands);
  node.text = fmt::format("{} only if {}", parameter.parameter().name, condition.node().text);
  node.precedence = 0;
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr call(const std::vector<Param>& parameters, ExprFunction function, const std::string& text) {
  ExprNode node;
  node.op = ExprOp::call;
  std::vector<std::string> names;
  for (const Param& parameter : parameters) {
    node.operands.push_back(Expr(parameter).shared());
    names.push_back(parameter.parameter().name);
  }
  node.parameters = merge_parameters(node.operands);
  node.function = std::move(function);
  node.text = fmt::format("{}({})", text, fmt::join(names, ", "));
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

int64_t apply(ExprOp op, int64_t a, int64_t b) {
  if (op == ExprOp::presence) return (a != kAbsentValue) == (b != kAbsentValue && b != kUndefinedValue && b != 0);
  // A true alternative is enough: `b == 0 || a % b == 0`.
  if (op == ExprOp::logic_or) {
    const auto is_true = [](int64_t value) { return value != kAbsentValue && value != kUndefinedValue && value != 0; };
    if (is_true(a) || is_true(b)) return 1;
  }
  if (a == kUndefinedValue || b == kUndefinedValue) return kUndefinedValue;
  if (a == kAbsentValue || b == kAbsentValue) return kAbsentValue;
  int64_t result = 0;
  switch (op) {
    case ExprOp::add: return __builtin_add_overflow(a, b, &result) ? kUndefinedValue : result;
    case ExprOp::subtract: return __builtin_sub_overflow(a, b, &result) ? kUndefinedValue : result;
    case ExprOp::multiply: return __builtin_mul_overflow(a, b, &result) ? kUndefinedValue : result;
    case ExprOp::divide: return b == 0 ? kUndefinedValue : a / b;
    case ExprOp::remainder: return b == 0 ? kUndefinedValue : b == -1 ? 0 : a % b;
    case ExprOp::ceil_divide: return b == 0 ? kUndefinedValue : a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
    case ExprOp::minimum: return std::min(a, b);
    case ExprOp::maximum: return std::max(a, b);
    case ExprOp::equal: return a == b;
    case ExprOp::not_equal: return a != b;
    case ExprOp::less: return a < b;
    case ExprOp::less_equal: return a <= b;
    case ExprOp::logic_and: return a != 0 && b != 0;
    case ExprOp::logic_or: return 0;
    case ExprOp::logic_not: return a == 0;
    default: throw InternalError("operator {} takes no two numbers", static_cast<int>(op));
  }
}

int64_t apply_call(const ExprFunction& function, std::span<const int64_t> values) {
  for (const int64_t value : values)
    if (value == kAbsentValue) return kAbsentValue;
  return function(values) ? 1 : 0;
}

int64_t evaluate(const ExprNode& node, const Point& point) {
  switch (node.op) {
    case ExprOp::constant: return node.constant;
    case ExprOp::lookup: {
      const ValueIndex choice = point.at(static_cast<size_t>(node.parameters[0]));
      return choice == kAbsent ? kAbsentValue : node.table.at(choice);
    }
    case ExprOp::call: {
      std::vector<int64_t> values;
      for (const auto& operand : node.operands) values.push_back(evaluate(*operand, point));
      return apply_call(node.function, values);
    }
    default: {
      const int64_t a = evaluate(*node.operands[0], point);
      return apply(node.op, a, node.operands.size() > 1 ? evaluate(*node.operands[1], point) : 0);
    }
  }
}

std::vector<Expr> conjuncts(const Expr& expression) {
  if (expression.node().op != ExprOp::logic_and) return {expression};
  std::vector<Expr> result;
  for (const auto& operand : expression.node().operands)
    for (Expr& part : conjuncts(Expr(operand))) result.push_back(std::move(part));
  return result;
}

}  // namespace attune
