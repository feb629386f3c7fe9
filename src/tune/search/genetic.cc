#include "tune/search/genetic.h"

#include <algorithm>

namespace attune::tune {

std::vector<uint64_t> GeneticSearch::propose(int count) {
  std::vector<uint64_t> result;
  while (static_cast<int>(result.size()) < count) {
    std::optional<uint64_t> next;
    const bool is_stuck = since_improvement_ >= genetic_.patience;
    if (is_stuck) since_improvement_ = 0;
    // The first generation is random, as are its asked but unanswered members.
    if (!is_stuck && history_.seen() + result.size() >= genetic_.population && history_.ranking().size() >= 2)
      next = make_child();
    if (!next || std::ranges::find(result, *next) != result.end()) next = history_.random_unseen(random_);
    if (!next) break;
    result.push_back(*next);
  }
  return result;
}

void GeneticSearch::learn(const Observation& observation) {
  ++since_improvement_;
  if (observation.outcome != Outcome::ok || (has_best_ && observation.cost >= best_)) return;
  best_ = observation.cost;
  has_best_ = true;
  since_improvement_ = 0;
}

/// The population is the best that were measured: whoever is worse has been replaced.
const Point& GeneticSearch::pick_parent() {
  const auto alive = static_cast<int64_t>(std::min(genetic_.population, history_.ranking().size()));
  int64_t winner = alive;
  for (int i = 0; i < genetic_.tournament; ++i) winner = std::min(winner, random_.below(alive));
  return history_.ranked(static_cast<size_t>(winner)).point;
}

std::optional<uint64_t> GeneticSearch::make_child() {
  const size_t genes = space_.parameters().size();
  const double rate = genes == 0 ? 0 : genetic_.mutations / static_cast<double>(genes);
  Point child;
  for (int attempt = 0; attempt < genetic_.novelty_attempts; ++attempt) {
    const Point &mother = pick_parent(), &father = pick_parent();
    child = mother;
    for (size_t i = 0; i < genes; ++i) {
      if (random_.below(2) == 0) child[i] = father[i];
      if (random_.uniform() >= rate || child[i] == kAbsent) continue;
      const auto values = static_cast<int64_t>(space_.parameters()[i]->texts.size());
      child[i] = static_cast<ValueIndex>(random_.below(values));
    }
    const uint64_t index = space_.nearest(child);
    if (!history_.is_seen(index)) return index;
  }
  // Around here everything is known but the surroundings.
  std::vector<uint64_t> near;
  for (const uint64_t index : space_.neighbours(space_.nearest(child)))
    if (!history_.is_seen(index)) near.push_back(index);
  if (near.empty()) return std::nullopt;
  return near[static_cast<size_t>(random_.below(static_cast<int64_t>(near.size())))];
}

}  // namespace attune::tune
