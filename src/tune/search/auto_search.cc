#include "tune/search/auto_search.h"

#include "tune/search/boosted_trees.h"
#include "tune/search/make_searcher.h"
#include "tune/search/pick.h"

#include <algorithm>
#include <numeric>

namespace attune::tune {

AutoSearch::AutoSearch(const Space& space, SearchOptions options, AutoOptions automatic)
    : Searcher(space, std::move(options)), automatic_(std::move(automatic)) {
  const auto affordable = options_.budget > 0 ? static_cast<uint64_t>(options_.budget) : automatic_.small_space;
  std::vector<std::string> members = automatic_.members;
  if (space.size() <= affordable) members = {"exhaustive"};
  for (const std::string& member : members) {
    if (member == "model" && !BoostedTrees::is_available()) continue;
    SearchOptions own = options_;
    own.seed = random_.next();
    members_.push_back(make_bare_searcher(member, space, own));
  }
}

/// All but the last once trials are many.
size_t AutoSearch::active_members() const {
  const bool are_many = history_.ranking().size() >= automatic_.without_last && members_.size() > 1;
  return members_.size() - (are_many ? 1 : 0);
}

size_t AutoSearch::initial_points() const {
  constexpr int kShare = 5;
  return options_.budget > 0 ? std::min(automatic_.initial, static_cast<size_t>(options_.budget / kShare))
                             : automatic_.initial;
}

std::vector<double> AutoSearch::promise(const std::vector<uint64_t>& candidates) {
  std::vector<double> result(candidates.size(), 0.0);
  std::vector<size_t> order(candidates.size());
  for (size_t m = 0; m < active_members(); ++m) {
    const std::vector<double> scores = members_[m]->promise(candidates);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    // Reciprocal ranks: the first few of a member count, the order of the rest hardly does.
    for (size_t rank = 0; rank < order.size(); ++rank) result[order[rank]] += 1 / (3.0 + static_cast<double>(rank));
  }
  return result;
}

std::vector<uint64_t> AutoSearch::propose(int count) {
  std::vector<uint64_t> result;
  const bool is_whole = members_.front()->name() == "exhaustive";
  const bool knows_enough =
      !options_.prior.empty() || (history_.seen() >= initial_points() && history_.ranking().size() >= 2);
  if (is_whole) {
    result = members_.front()->ask(count);
  } else if (!knows_enough) {
    if (const auto index = history_.random_unseen(random_)) result.push_back(*index);
  } else if (automatic_.mix == Mix::ranks) {
    const auto candidates = make_candidates(space_, history_, random_, automatic_.candidates);
    result = pick_best(candidates, promise(candidates), count);
  } else {
    result = members_[turn_++ % active_members()]->ask(1);
  }
  for (const auto& member : members_)
    for (const uint64_t index : result) member->skip(index);
  return result;
}

void AutoSearch::learn(const Observation& observation) {
  for (const auto& member : members_) member->tell(observation);
}

}  // namespace attune::tune
