#include "tune/search/guided_search.h"

#include "tune/search/pick.h"

namespace attune::tune {

GuidedSearch::GuidedSearch(const Space& space, SearchOptions options, std::unique_ptr<Searcher> inner,
                           GuideOptions guide)
    : Searcher(space, std::move(options)), inner_(std::move(inner)), guide_(guide) {
  first_.push_back(space.default_index());
  for (const uint64_t index : options_.first) first_.push_back(index);
}

std::vector<uint64_t> GuidedSearch::propose(int count) {
  std::vector<uint64_t> result;
  while (next_first_ < first_.size() && static_cast<int>(result.size()) < count) {
    const uint64_t index = first_[next_first_++];
    if (!history_.is_seen(index)) result.push_back(index);
  }
  if (static_cast<int>(result.size()) == count) return result;
  const int wanted = count - static_cast<int>(result.size());

  const double reserve = guide_.polish_share * options_.budget;
  const bool is_late = options_.budget > 0 && static_cast<double>(history_.seen()) >= options_.budget - reserve;
  std::vector<uint64_t> more;
  if (is_polishing_ || is_late) more = surroundings(wanted);
  if (more.empty() && !is_polishing_) more = inner_->ask(wanted);
  // An inner search that is done leaves the surroundings of its best.
  if (more.empty() && !is_polishing_) more = surroundings(wanted);
  result.insert(result.end(), more.begin(), more.end());
  for (const uint64_t index : result) inner_->skip(index);
  return result;
}

std::vector<uint64_t> GuidedSearch::surroundings(int count) {
  const auto* best = history_.best();
  if (best == nullptr) return {};
  std::vector<uint64_t> near;
  for (const uint64_t index : space_.neighbours(best->index))
    if (!history_.is_seen(index)) near.push_back(index);
  return pick_best(near, inner_->promise(near), count);
}

}  // namespace attune::tune
