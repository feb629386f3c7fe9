#include "space/transitions.h"

#include <algorithm>
#include <map>

namespace attune {
namespace {

class Compiler {
 public:
  explicit Compiler(const TransitionInput& input) : input_(input), place_(input.parameters.size(), -1) {
    for (size_t i = 0; i < input.order.size(); ++i) place_[static_cast<size_t>(input.order[i])] = static_cast<int>(i);
    slots_.resize(input.order.size() + 1);
    for (const Expr& constraint : input.constraints)
      for (int level = 1; level <= last_place(constraint.node()); ++level) collect_slots(constraint.node(), level);
  }

  std::vector<Transition> transitions() const {
    std::vector<Transition> result;
    for (int level = 0; level < static_cast<int>(input_.order.size()); ++level) {
      Transition transition;
      transition.parameter = input_.order[static_cast<size_t>(level)];
      const auto parameter = static_cast<size_t>(transition.parameter);
      transition.can_be_absent = input_.conditional[parameter];
      transition.choices = static_cast<int>(input_.parameters[parameter]->texts.size()) + transition.can_be_absent;
      for (const Expr& constraint : input_.constraints)
        if (last_place(constraint.node()) == level) transition.checks.push_back(program_of(constraint.node(), level));
      const auto& next = slots_[static_cast<size_t>(level) + 1];
      transition.next_state.resize(next.size());
      for (const auto& [text, slot] : next)
        transition.next_state[static_cast<size_t>(slot.index)] = program_of(*slot.node, level);
      result.push_back(std::move(transition));
    }
    return result;
  }

 private:
  struct Slot {
    int index;
    const ExprNode* node;
  };

  int last_place(const ExprNode& node) const {
    int last = -1;
    for (const int parameter : node.parameters) last = std::max(last, place_[static_cast<size_t>(parameter)]);
    return last;
  }

  /// The largest subexpressions whose parameters are all chosen before `level`.
  void collect_slots(const ExprNode& node, int level) {
    if (node.parameters.empty()) return;
    auto& slots = slots_[static_cast<size_t>(level)];
    if (last_place(node) < level) {
      slots.try_emplace(node.text, Slot{static_cast<int>(slots.size()), &node});
      return;
    }
    for (const auto& operand : node.operands) collect_slots(*operand, level);
  }

  ExprProgram program_of(const ExprNode& node, int level) const {
    ExprProgram program;
    emit(node, level, program);
    return program;
  }

  void emit(const ExprNode& node, int level, ExprProgram& program) const {
    using Kind = ExprInstruction::Kind;
    const auto& slots = slots_[static_cast<size_t>(level)];
    if (const auto slot = slots.find(node.text); slot != slots.end()) {
      program.push_back({Kind::slot, node.op, slot->second.index, nullptr});
    } else if (node.op == ExprOp::constant) {
      program.push_back({Kind::constant, node.op, node.constant, nullptr});
    } else if (node.op == ExprOp::lookup) {
      program.push_back({Kind::table, node.op, 0, &node});
    } else {
      for (const auto& operand : node.operands) emit(*operand, level, program);
      if (node.op == ExprOp::call) {
        program.push_back({Kind::call, node.op, static_cast<int64_t>(node.operands.size()), &node});
      } else {
        if (node.operands.size() == 1) program.push_back({Kind::constant, ExprOp::constant, 0, nullptr});
        program.push_back({Kind::binary, node.op, 0, nullptr});
      }
    }
  }

  const TransitionInput& input_;
  std::vector<int> place_;                          // of each parameter in the order
  std::vector<std::map<std::string, Slot>> slots_;  // of each level: the state before its parameter is chosen
};

}  // namespace

std::vector<Transition> compile_transitions(const TransitionInput& input) { return Compiler(input).transitions(); }

int64_t run_program(const ExprProgram& program, std::span<const int64_t> state, int choice,
                    std::vector<int64_t>& stack) {
  stack.resize(std::max(stack.size(), program.size()));
  int64_t* top = stack.data();
  for (const ExprInstruction& instruction : program) {
    switch (instruction.kind) {
      case ExprInstruction::Kind::constant: *top++ = instruction.constant; break;
      case ExprInstruction::Kind::slot: *top++ = state[static_cast<size_t>(instruction.constant)]; break;
      case ExprInstruction::Kind::table: *top++ = instruction.source->table[static_cast<size_t>(choice)]; break;
      case ExprInstruction::Kind::binary:
        --top;
        top[-1] = apply(instruction.op, top[-1], top[0]);
        break;
      case ExprInstruction::Kind::call:
        top -= instruction.constant;
        *top = apply_call(instruction.source->function, {top, static_cast<size_t>(instruction.constant)});
        ++top;
        break;
    }
  }
  return top[-1];
}

}  // namespace attune
