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
};

struct TransitionInput {
  std::vector<int> order;                    // parameters in the order in which they are chosen
  std::vector<const Parameter*> parameters;  // all of the space
  std::vector<bool> conditional;
  std::vector<Expr> constraints;  // over parameters of `order` only; must outlive the transitions
};

std::vector<Transition> compile_transitions(const TransitionInput& input);

/// `state` is that of the level before; `choice` counts absence as the last.
int64_t run_program(const ExprProgram& program, std::span<const int64_t> state, int choice,
                    std::vector<int64_t>& stack);

}  // namespace attune
