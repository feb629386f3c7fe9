#include "space/transitions.h"

#include <algorithm>
#include <map>
#include <utility>

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
      transition.is_state_unique = tells_all_before(level);
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

  bool tells_all_before(int level) const {
    std::vector<bool> is_told(input_.parameters.size(), false);
    for (const auto& [text, slot] : slots_[static_cast<size_t>(level)]) {
      if (slot.node->op != ExprOp::lookup) continue;
      std::vector<int64_t> numbers = slot.node->table;
      std::ranges::sort(numbers);
      if (std::ranges::adjacent_find(numbers) == numbers.end())
        is_told[static_cast<size_t>(slot.node->parameters[0])] = true;
    }
    return std::all_of(input_.order.begin(), input_.order.begin() + level,
                       [&](int parameter) { return is_told[static_cast<size_t>(parameter)]; });
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

void ProgramRunner::run(const ExprProgram& program, std::span<const int64_t> state, std::span<const int> choices,
                        int64_t* values) {
  const size_t width = choices.size();
  if (places_.size() < program.size()) places_.resize(program.size());
  if (rows_.size() < program.size() * width) rows_.resize(program.size() * width);
  size_t top = 0;  // the first free place
  for (const ExprInstruction& instruction : program) {
    switch (instruction.kind) {
      case ExprInstruction::Kind::constant: places_[top++] = {true, instruction.constant}; break;
      case ExprInstruction::Kind::slot:
        places_[top++] = {true, state[static_cast<size_t>(instruction.constant)]};
        break;
      case ExprInstruction::Kind::table:
        for (size_t k = 0; k < width; ++k)
          row(top, width)[k] = instruction.source->table[static_cast<size_t>(choices[k])];
        places_[top++] = {false, 0};
        break;
      case ExprInstruction::Kind::binary: apply_to_rows(instruction.op, --top - 1, width); break;
      case ExprInstruction::Kind::call:
        top -= static_cast<size_t>(instruction.constant);
        call_on_rows(*instruction.source, top++, static_cast<size_t>(instruction.constant), width);
        break;
    }
  }
  for (size_t k = 0; k < width; ++k) values[k] = places_[0].is_same ? places_[0].value : row(0, width)[k];
}

/// On `place` and the one after it.
void ProgramRunner::apply_to_rows(ExprOp op, size_t place, size_t width) {
  Place &a = places_[place], &b = places_[place + 1];
  if (a.is_same && b.is_same) {
    a.value = apply(op, a.value, b.value);
    return;
  }
  int64_t *left = row(place, width), *right = row(place + 1, width);
  for (size_t k = 0; k < width; ++k) left[k] = apply(op, a.is_same ? a.value : left[k], b.is_same ? b.value : right[k]);
  a.is_same = false;
}

/// On `count` places from `place` on.
void ProgramRunner::call_on_rows(const ExprNode& node, size_t place, size_t count, size_t width) {
  arguments_.assign(count, 0);
  varying_.clear();
  bool is_absent = false;
  for (size_t i = 0; i < count; ++i) {
    const Place& argument = places_[place + i];
    if (!argument.is_same) varying_.push_back(i);
    arguments_[i] = argument.value;
    is_absent |= argument.is_same && argument.value == kAbsentValue;
  }
  if (is_absent || varying_.empty()) {
    places_[place] = {true, is_absent ? kAbsentValue : apply_call(node.function, arguments_)};
    return;
  }
  for (size_t k = 0; k < width; ++k) {
    for (const size_t i : varying_) {
      arguments_[i] = row(place + i, width)[k];
      is_absent |= arguments_[i] == kAbsentValue;
    }
    row(place, width)[k] = std::exchange(is_absent, false) ? kAbsentValue : node.function(arguments_) ? 1 : 0;
  }
  places_[place].is_same = false;
}

}  // namespace attune
