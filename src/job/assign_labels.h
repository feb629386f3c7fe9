// Gives every item one of a few labels, so that the items' own costs and those of neighbours with different labels are
// small together.
#pragma once

#include <cstddef>
#include <vector>

namespace attune {

struct LabelProblem {
  struct Link {
    size_t a = 0, b = 0;  // items
    double cost = 0;      // when their labels differ
  };
  std::vector<std::vector<double>> costs;  // by item, by label
  std::vector<Link> links;
};

double label_cost(const LabelProblem& problem, const std::vector<size_t>& labels);

/// From `start`, moves to one label as many items as pay at once, by minimal cuts, until no such move pays: the best
/// there is with two labels, near it with more.
std::vector<size_t> assign_labels(const LabelProblem& problem, std::vector<size_t> start);

}  // namespace attune
