#include "tune/search/tpe.h"

#include "tune/search/pick.h"

#include <algorithm>
#include <cmath>

namespace attune::tune {

TpeSearch::Table TpeSearch::log_ratios() const {
  const auto& entries = history_.entries();
  const auto& ranking = history_.ranking();
  const auto wanted = static_cast<size_t>(std::ceil(tpe_.good_share * static_cast<double>(entries.size())));
  const size_t good_count = std::min(ranking.size(), std::max(tpe_.min_good, wanted));
  std::vector<bool> is_good(entries.size(), false);  // failures are not
  for (size_t i = 0; i < good_count; ++i) is_good[ranking[i]] = true;

  Table table;
  for (size_t p = 0; p < space_.parameters().size(); ++p) {
    const size_t values = space_.parameters()[p]->texts.size();
    const bool is_ordered = space_.parameters()[p]->is_ordered();
    const double even = tpe_.prior_weight / static_cast<double>(values + 1);
    std::vector<double> weights[2];
    double sums[2] = {tpe_.prior_weight, tpe_.prior_weight};
    for (auto& side : weights) side.assign(values + 1, even);
    for (size_t i = 0; i < entries.size(); ++i) {
      const int side = is_good[i] ? 1 : 0;
      const size_t value = entries[i].point[p] == kAbsent ? values : entries[i].point[p];
      const auto add = [&](size_t at, double weight) {
        weights[side][at] += weight;
        sums[side] += weight;
      };
      add(value, 1);
      if (!is_ordered || value == values) continue;
      if (value > 0) add(value - 1, tpe_.adjacent_weight);
      if (value + 1 < values) add(value + 1, tpe_.adjacent_weight);
    }
    std::vector<double> ratios(values + 1);
    for (size_t v = 0; v <= values; ++v)
      ratios[v] = std::log(weights[1][v] / sums[1]) - std::log(weights[0][v] / sums[0]);
    table.push_back(std::move(ratios));
  }
  return table;
}

std::vector<double> TpeSearch::promise(const std::vector<uint64_t>& candidates) {
  const Table table = log_ratios();
  std::vector<double> result;
  for (const uint64_t index : candidates) {
    const Point point = space_.point_at(index);
    double score = 0;
    for (size_t p = 0; p < table.size(); ++p) score += point[p] == kAbsent ? table[p].back() : table[p][point[p]];
    result.push_back(score);
  }
  return result;
}

std::vector<uint64_t> TpeSearch::propose(int count) {
  std::vector<uint64_t> result;
  const bool is_starting = history_.seen() < tpe_.initial || history_.ranking().empty();
  const bool is_random = history_.seen() >= tpe_.random_after && random_.uniform() < tpe_.random_share;
  if (is_starting || is_random) {
    if (const auto index = history_.random_unseen(random_)) result.push_back(*index);
    return result;
  }
  const auto candidates = make_candidates(space_, history_, random_, tpe_.candidates);
  return pick_best(candidates, promise(candidates), count);
}

}  // namespace attune::tune
