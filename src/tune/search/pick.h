// The most promising of some candidates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace attune::tune {

/// Up to `count`, best first; of equal ones the earlier.
inline std::vector<uint64_t> pick_best(const std::vector<uint64_t>& candidates, const std::vector<double>& scores,
                                       int count) {
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<uint64_t> result;
  for (size_t i = 0; i < order.size() && static_cast<int>(i) < count; ++i) result.push_back(candidates[order[i]]);
  return result;
}

}  // namespace attune::tune
