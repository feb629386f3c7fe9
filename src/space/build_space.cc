// From declarations to graphs of points: parameters that constraints connect form one graph each.
#include "base/error.h"
#include "space/space.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace attune {
namespace {

/// Connected parameters, by the constraints that mention them.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  int find(int i) {
    while (parent_[static_cast<size_t>(i)] != i) i = parent_[static_cast<size_t>(i)];
    return i;
  }
  /// The smallest of a group stands for it.
  void join(int a, int b) {
    const auto [low, high] = std::minmax({find(a), find(b)});
    parent_[static_cast<size_t>(high)] = low;
  }

 private:
  std::vector<int> parent_;
};

/// The order in which parameters are chosen. Next comes the one that leaves the fewest parameters chosen but still
/// needed, which keeps the states few; then the one that completes the most constraints, then the smallest.
std::vector<int> choose_order(std::vector<int> group, const std::vector<Expr>& constraints,
                              const std::vector<std::shared_ptr<const Parameter>>& parameters) {
  std::vector<int> order;
  std::vector<bool> is_chosen(parameters.size(), false);
  while (!group.empty()) {
    const auto rank = [&](int candidate) {
      is_chosen[static_cast<size_t>(candidate)] = true;
      int completed = 0;
      std::vector<bool> is_needed(parameters.size(), false);
      for (const Expr& constraint : constraints) {
        const auto& mentioned = constraint.node().parameters;
        if (std::ranges::find(mentioned, candidate) == mentioned.end() &&
            std::ranges::none_of(mentioned, [&](int p) { return is_chosen[static_cast<size_t>(p)]; }))
          continue;
        const bool is_complete =
            std::ranges::all_of(mentioned, [&](int p) { return is_chosen[static_cast<size_t>(p)]; });
        if (is_complete) {
          completed += std::ranges::find(mentioned, candidate) != mentioned.end();
          continue;
        }
        for (const int p : mentioned)
          if (is_chosen[static_cast<size_t>(p)]) is_needed[static_cast<size_t>(p)] = true;
      }
      is_chosen[static_cast<size_t>(candidate)] = false;
      const auto needed = std::ranges::count(is_needed, true);
      return std::tuple(needed, -completed, parameters[static_cast<size_t>(candidate)]->texts.size(), candidate);
    };
    const int next = *std::ranges::min_element(group, {}, rank);
    is_chosen[static_cast<size_t>(next)] = true;
    order.push_back(next);
    std::erase(group, next);
  }
  return order;
}

}  // namespace

std::vector<PointGraph> Space::build_graphs(const std::vector<bool>& is_used, const BuildLimits& limits) const {
  std::vector<Expr> constraints;
  Groups groups(parameters_.size());
  bool is_contradiction = false;  // a constraint without parameters that does not hold
  for (size_t i = 0; i < constraints_.size(); ++i) {
    if (!is_used[i]) continue;
    for (const Expr& part : conjuncts(constraints_[i].expression)) {
      const auto& mentioned = part.node().parameters;
      if (mentioned.empty()) {
        is_contradiction |= !holds(evaluate(part.node(), {}));
        continue;
      }
      for (const int parameter : mentioned) groups.join(mentioned[0], parameter);
      constraints.push_back(part);
    }
  }

  std::vector<const Parameter*> parameters;
  for (const auto& parameter : parameters_) parameters.push_back(parameter.get());
  std::vector<PointGraph> graphs;
  if (is_contradiction) graphs.emplace_back();
  for (int root = 0; root < static_cast<int>(parameters_.size()); ++root) {
    if (groups.find(root) != root) continue;
    std::vector<int> group;
    std::vector<std::string> names;
    for (int i = root; i < static_cast<int>(parameters_.size()); ++i)
      if (groups.find(i) == root) {
        group.push_back(i);
        names.push_back(parameters_[static_cast<size_t>(i)]->name);
      }
    std::vector<Expr> own;
    for (const Expr& constraint : constraints)
      if (groups.find(constraint.node().parameters[0]) == root) own.push_back(constraint);
    const TransitionInput input{choose_order(std::move(group), own, parameters_), parameters, conditional_, own};
    graphs.push_back(build_point_graph(compile_transitions(input), limits, fmt::format("{}", fmt::join(names, ", "))));
  }
  return graphs;
}

uint64_t Space::count(const std::vector<bool>& is_used) const {
  uint64_t size = 1;
  for (const PointGraph& graph : build_graphs(is_used, limits_))
    if (__builtin_mul_overflow(size, graph.size(), &size)) return UINT64_MAX;
  return size;
}

}  // namespace attune
