#include "tune/search/candidates.h"

#include <algorithm>

namespace attune::tune {
namespace {

/// One of the best, the better the likelier.
const Point& pick_parent(const History& history, Random& random, size_t parents) {
  const auto count = static_cast<int64_t>(std::min(parents, history.ranking().size()));
  return history.ranked(static_cast<size_t>(std::min(random.below(count), random.below(count)))).point;
}

Point stride_from(const Space& space, Point point, Random& random) {
  const auto parameters = static_cast<int64_t>(space.parameters().size());
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<size_t>(random.below(parameters));
    if (point[at] == kAbsent) continue;  // comes and goes with others
    point[at] = static_cast<ValueIndex>(random.below(static_cast<int64_t>(space.parameters()[at]->texts.size())));
  }
  return point;
}

Point child_of(Point mother, const Point& father, Random& random) {
  for (size_t i = 0; i < mother.size(); ++i)
    if (random.below(2) == 0) mother[i] = father[i];
  return mother;
}

}  // namespace

std::vector<uint64_t> make_candidates(const Space& space, const History& history, Random& random,
                                      const CandidateOptions& options) {
  std::vector<uint64_t> result;
  std::unordered_set<uint64_t> taken;
  const auto take = [&](uint64_t index) {
    if (!history.is_seen(index) && taken.insert(index).second) result.push_back(index);
  };
  for (size_t rank = 0; rank < std::min(options.tops, history.ranking().size()); ++rank) {
    std::vector<uint64_t> near = space.neighbours(history.ranked(rank).index);
    // In random order, since the cap must not favour the first parameters.
    for (size_t i = near.size(); i-- > 1;)
      std::swap(near[i], near[static_cast<size_t>(random.below(static_cast<int64_t>(i) + 1))]);
    for (const uint64_t index : near)
      if (result.size() < options.max_neighbours) take(index);
  }
  if (!history.ranking().empty()) {
    const auto parent = [&]() -> const Point& { return pick_parent(history, random, options.parents); };
    for (size_t i = 0; i < options.strides; ++i)
      if (const auto index = space.settle(stride_from(space, parent(), random))) take(*index);
    for (size_t i = 0; i < options.children; ++i)
      if (const auto index = space.settle(child_of(parent(), parent(), random))) take(*index);
  }
  for (size_t i = 0; i < options.random; ++i)
    if (const auto index = history.random_unseen(random)) take(*index);
  return result;
}

}  // namespace attune::tune
