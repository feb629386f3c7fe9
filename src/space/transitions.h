// Constraints compiled for building a space level by level: which programs to run when one more parameter is chosen.
//
// Of the parameters chosen so far only the values of subexpressions matter that pending constraints still need: for
// a*b*c <= 64 after a and b that is the one number a*b. These values are the state of a level, and points with one
// state have the same continuations. So a state is explored once, however many ways lead to it.
#pragma once

#include "space/expression.h"

namespace attune {

/// A program for a small stack machine.
struct ExprInstruction {
  enum class Kind : uint8_t { constant, slot, table, binary, call } kind;
  ExprOp op = ExprOp::constant;
  int64_t constant = 0;              // constant: the value; slot: its position in the state; call: how many operands
  const ExprNode* source = nullptr;  // table, call
};
using ExprProgram = std::vector<ExprInstruction>;

/// What happens when the parameter of one level is chosen.
struct Transition {
  int parameter = 0;
  int choices = 0;  // including absence where the parameter is conditional, which is then the last
  bool can_be_absent = false;
  std::vector<ExprProgram> checks;      // constraints whose last parameter this is
  std::vector<ExprProgram> next_state;  // one for each value of the next level's state
  /// The state before this parameter tells all choices before it, so that no two ways lead to one state.
  bool is_state_unique = false;
};

struct TransitionInput {
  std::vector<int> order;                    // parameters in the order in which they are chosen
  std::vector<const Parameter*> parameters;  // all of the space
  std::vector<bool> conditional;
  std::vector<Expr> constraints;  // over parameters of `order` only; must outlive the transitions
};

std::vector<Transition> compile_transitions(const TransitionInput& input);

/// Runs programs for many choices of one parameter at once: what does not depend on the choice is computed once.
class ProgramRunner {
 public:
  /// Writes the value for each choice; `state` is that of the level, and a choice counts absence as the last.
  void run(const ExprProgram& program, std::span<const int64_t> state, std::span<const int> choices, int64_t* values);

 private:
  /// What a place of the stack holds: one number for all choices, or one for each in its row of `rows_`.
  struct Place {
    bool is_same;
    int64_t value;
  };
  int64_t* row(size_t place, size_t width) { return rows_.data() + place * width; }
  void apply_to_rows(ExprOp op, size_t place, size_t width);
  void call_on_rows(const ExprNode& node, size_t place, size_t count, size_t width);

  std::vector<Place> places_;
  std::vector<int64_t> rows_, arguments_;
  std::vector<size_t> varying_;
};

}  // namespace attune
