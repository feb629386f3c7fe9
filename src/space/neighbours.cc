// Points near a point, and near what is not a point.
#include "space/space.h"

#include <algorithm>

namespace attune {

std::vector<uint64_t> Space::neighbours(uint64_t index, Neighbourhood neighbourhood) const {
  const Point centre = point_at(index);
  std::vector<uint64_t> result;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    // Only conditions, lists and their absences decide whether a parameter is there.
    if (centre[i] == kAbsent && list_.empty()) continue;
    const bool only_adjacent = neighbourhood == Neighbourhood::adjacent_value && parameters_[i]->is_ordered();
    for (size_t value = 0; value < parameters_[i]->texts.size(); ++value) {
      const auto choice = static_cast<ValueIndex>(value);
      if (choice == centre[i]) continue;
      if (only_adjacent && centre[i] != kAbsent && choice + 1 != centre[i] && centre[i] + 1 != choice) continue;
      Point point = centre;
      point[i] = choice;
      if (const auto found = settle(std::move(point)); found && *found != index) result.push_back(*found);
    }
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::optional<uint64_t> Space::settle(Point point) const {
  if (auto index = index_of(point)) return index;
  if (!list_.empty()) return std::nullopt;
  // Conditions may stand on conditional parameters, so each round settles one level of them.
  for (size_t round = 0; round < parameters_.size(); ++round) {
    bool has_changed = false;
    for (const Constraint& constraint : constraints_) {
      const ExprNode& node = constraint.expression.node();
      if (node.op != ExprOp::presence || holds(evaluate(node, point))) continue;
      const auto parameter = static_cast<size_t>(node.operands[0]->parameters[0]);
      ValueIndex choice = kAbsent;
      if (point[parameter] == kAbsent) {
        const auto preferred = default_.find(parameters_[parameter]->name);
        choice = preferred == default_.end() ? ValueIndex{0} : parameters_[parameter]->find(preferred->second).value();
      }
      point[parameter] = choice;
      has_changed = true;
    }
    if (!has_changed) break;
  }
  return index_of(point);
}

}  // namespace attune
