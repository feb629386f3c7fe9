// Why a configuration is not valid, why a space is empty, and what each constraint costs.
#include "base/error.h"
#include "space/space.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace attune {

std::string Space::why_invalid(const Config& config) const {
  for (const auto& [name, value] : config) {
    const auto place = std::ranges::find(parameters_, name, [](const auto& parameter) { return parameter->name; });
    if (place == parameters_.end()) return fmt::format("it has no parameter '{}'", name);
    if (!(*place)->find(value))
      return fmt::format("parameter '{}' has no value '{}'; its values are {}", name, value,
                         fmt::join((*place)->texts, ", "));
  }
  const Point point = point_of(config).value();
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (point[i] == kAbsent && !conditional_[i])
      return fmt::format("it gives no value for parameter '{}'", parameters_[i]->name);
  std::vector<std::string> violated;
  for (const Constraint& constraint : constraints_)
    for (const Expr& part : conjuncts(constraint.expression))
      if (!holds(evaluate(part.node(), point))) {
        violated.push_back(constraint.text());
        break;
      }
  if (!violated.empty()) return fmt::format("it violates {}", fmt::join(violated, ", "));
  if (!list_.empty() && !index_of(point)) return "it is not in the list";
  return "";
}

std::string Space::why_empty() const {
  require_built();
  if (size_ > 0) return "";
  if (constraints_.empty()) return "the space is empty: its list has no configuration";
  // Leave out what is not needed for emptiness; what remains is a smallest set that contradicts itself.
  std::vector<bool> is_used(constraints_.size(), true);
  for (size_t i = 0; i < constraints_.size(); ++i) {
    is_used[i] = false;
    if (count(is_used) > 0) is_used[i] = true;
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < constraints_.size(); ++i)
    if (is_used[i]) texts.push_back(constraints_[i].text());
  if (texts.size() == 1)
    return fmt::format("the space is empty: no combination fulfils {}; relax it or give more values", texts[0]);
  return fmt::format(
      "the space is empty: these {} constraints leave nothing together: {}; relax one of them or give "
      "more values",
      texts.size(), fmt::join(texts, "; "));
}

std::string Space::explain() const {
  require_built();
  std::string text = fmt::format("{} of {:.4g} combinations are valid\n", size_, raw_size());
  for (size_t i = 0; i < constraints_.size(); ++i) {
    std::vector<bool> is_used(constraints_.size(), true);
    is_used[i] = false;
    text += fmt::format("{} removes {}\n", constraints_[i].text(), count(is_used) - size_);
  }
  return text;
}

}  // namespace attune
