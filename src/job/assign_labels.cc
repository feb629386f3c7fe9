#include "job/assign_labels.h"

#include "base/min_cut.h"

namespace attune {
namespace {

/// The best move of any items to `label`: the others keep what they have. In the cut, the second side is those that
/// move.
std::vector<size_t> moved_to(const LabelProblem& problem, const std::vector<size_t>& labels, size_t label) {
  std::vector<double> staying(labels.size()), moving(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    staying[i] = problem.costs[i][labels[i]];
    moving[i] = problem.costs[i][label];
  }
  MinCut cut(labels.size());
  for (const LabelProblem::Link& link : problem.links) {
    // By who moves: nobody, b alone, a alone; if both do they have the same label.
    const double none = labels[link.a] != labels[link.b] ? link.cost : 0;
    const double only_b = labels[link.a] != label ? link.cost : 0;
    const double only_a = labels[link.b] != label ? link.cost : 0;
    // none + (only_a - none) a - only_a b + (only_a + only_b - none) (1 - a) b
    moving[link.a] += only_a - none;
    moving[link.b] -= only_a;
    cut.cost_of_parting(link.a, link.b, only_a + only_b - none);
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    const double difference = moving[i] - staying[i];
    if (difference > 0)
      cut.cost_of_second(i, difference);
    else
      cut.cost_of_first(i, -difference);
  }
  const std::vector<bool> moves = cut.solve();
  std::vector<size_t> result = labels;
  for (size_t i = 0; i < labels.size(); ++i)
    if (moves[i]) result[i] = label;
  return result;
}

}  // namespace

double label_cost(const LabelProblem& problem, const std::vector<size_t>& labels) {
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) sum += problem.costs[i][labels[i]];
  for (const LabelProblem::Link& link : problem.links)
    if (labels[link.a] != labels[link.b]) sum += link.cost;
  return sum;
}

std::vector<size_t> assign_labels(const LabelProblem& problem, std::vector<size_t> start) {
  if (problem.costs.empty()) return start;
  constexpr double kLeast = 1e-9;  // so that rounding cannot go round in circles
  double cost = label_cost(problem, start);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t label = 0; label < problem.costs[0].size(); ++label) {
      std::vector<size_t> next = moved_to(problem, start, label);
      const double next_cost = label_cost(problem, next);
      if (next_cost >= cost * (1 - kLeast)) continue;
      start = std::move(next);
      cost = next_cost;
      moved = true;
    }
  }
  return start;
}

}  // namespace attune
