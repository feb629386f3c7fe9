#include "tune/search/candidates.h"

#include <algorithm>

namespace attune::tune {

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
  for (size_t i = 0; i < options.random; ++i)
    if (const auto index = history.random_unseen(random)) take(*index);
  return result;
}

}  // namespace attune::tune
