// Integer expressions over the parameters of a space: `bm * bn <= 4096 && k % bk == 0`. An expression knows its
// parameters, so a constraint is checked as soon as the last of them is chosen, and it knows its own text, so an empty
// space can be explained.
#pragma once

#include "space/parameter.h"

#include <concepts>
#include <functional>
#include <span>
#include <string_view>

namespace attune {

enum class ExprOp : uint8_t {
  constant,
  lookup,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  ceil_divide,
  minimum,
  maximum,
  equal,
  not_equal,
  less,
  less_equal,
  logic_and,
  logic_or,
  logic_not,
  presence,
  call
};

using ExprFunction = std::function<bool(std::span<const int64_t>)>;

struct ExprNode {
  ExprOp op = ExprOp::constant;
  int64_t constant = 0;
  std::vector<int64_t> table;  // lookup: the number of each choice, kAbsentValue after the last
  std::vector<std::shared_ptr<const ExprNode>> operands;
  ExprFunction function;        // call
  std::vector<int> parameters;  // positions in the space, ascending
  std::string text;             // equal texts of one space mean equal expressions
  int precedence = 9;
};

/// Not numbers: what an expression over an absent parameter has for a value, and what dividing by zero or leaving 64
/// bits gives. A constraint whose value is absent holds, one whose value is undefined does not.
inline constexpr int64_t kAbsentValue = INT64_MIN;
inline constexpr int64_t kUndefinedValue = INT64_MIN + 1;

class Expr {
 public:
  template <std::integral Number> Expr(Number value)  // NOLINT(google-explicit-constructor): numbers are expressions
      : node_(make_constant(static_cast<int64_t>(value))) {}
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}

  const ExprNode& node() const { return *node_; }
  const std::shared_ptr<const ExprNode>& shared() const { return node_; }

 private:
  static std::shared_ptr<const ExprNode> make_constant(int64_t value);
  std::shared_ptr<const ExprNode> node_;  // shared: subexpressions are parts of several expressions
};

/// A parameter within expressions; Space makes them.
class Param {
 public:
  Param(int index, std::shared_ptr<const Parameter> parameter) : index_(index), parameter_(std::move(parameter)) {}

  int index() const { return index_; }
  const Parameter& parameter() const { return *parameter_; }
  operator Expr() const;  // NOLINT(google-explicit-constructor): a parameter stands for its number
  /// Where a permutation puts an item: 0 is first, or outermost.
  Expr position(const std::string& item) const;

 private:
  int index_;
  std::shared_ptr<const Parameter> parameter_;  // shared with the space, which may be copied
};

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator%(const Expr& a, const Expr& b);
Expr operator==(const Expr& a, const Expr& b);
Expr operator!=(const Expr& a, const Expr& b);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr operator&&(const Expr& a, const Expr& b);
Expr operator||(const Expr& a, const Expr& b);
Expr operator!(const Expr& a);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr ceil_div(const Expr& a, const Expr& b);

/// By the text of the value: layout == "nhwc". Throws UserError when the parameter has no such value.
Expr has_text(const Param& parameter, std::string_view text);
// Templates, lest the 0 in `bm == 0` be taken for a text that is not there.
template <std::convertible_to<std::string_view> Text> Expr operator==(const Param& parameter, const Text& text) {
  return has_text(parameter, text);
}
template <std::convertible_to<std::string_view> Text> Expr operator!=(const Param& parameter, const Text& text) {
  return !has_text(parameter, text);
}

/// The parameter is there exactly where the condition holds.
Expr presence_follows(const Param& parameter, const Expr& condition);
/// Whatever an expression cannot say; `function` gets the numbers of the parameters and must depend on nothing else.
Expr call(const std::vector<Param>& parameters, ExprFunction function, const std::string& text);

/// What an operator makes of its operands' values.
int64_t apply(ExprOp op, int64_t a, int64_t b);
int64_t apply_call(const ExprFunction& function, std::span<const int64_t> values);
/// Whether a constraint with this value holds.
inline bool holds(int64_t value) { return value == kAbsentValue || (value != 0 && value != kUndefinedValue); }
/// The value at a whole point.
int64_t evaluate(const ExprNode& node, const Point& point);

/// `a && b` as a and b, so that each is checked as early as can be.
std::vector<Expr> conjuncts(const Expr& expression);

}  // namespace attune
