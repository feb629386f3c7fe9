// The cheapest way to part items into two sides.
#pragma once

#include <cstddef>
#include <vector>

namespace attune {

/// Items lie on the first or on the second side. Costs are not negative; made for some thousands of items and links.
class MinCut {
 public:
  explicit MinCut(size_t items);

  void cost_of_first(size_t item, double cost) { add(item, sink_, cost); }
  void cost_of_second(size_t item, double cost) { add(source_, item, cost); }
  /// Paid when `first` lies on the first side and `second` on the second, and not the other way round.
  void cost_of_parting(size_t first, size_t second, double cost) { add(first, second, cost); }

  /// By item: whether it lies on the second side. Where both are as cheap, it does not.
  std::vector<bool> solve();

 private:
  struct Edge {
    size_t to;
    double left;  // of its capacity
  };

  void add(size_t from, size_t to, double capacity);
  bool augment();

  size_t source_, sink_;
  std::vector<Edge> edges_;  // each followed by its reverse
  std::vector<std::vector<size_t>> out_;
};

}  // namespace attune
