#include "tune/search/exhaustive.h"

#include <numeric>

namespace attune::tune {

ExhaustiveSearch::ExhaustiveSearch(const Space& space, SearchOptions options) : Searcher(space, std::move(options)) {
  // Steps of the golden ratio of the size spread evenly at every length; a step coprime to the size reaches everything.
  const uint64_t size = space.size();
  step_ = static_cast<uint64_t>(static_cast<double>(size) * 0.6180339887498949);
  while (step_ < 1 || std::gcd(step_, size) != 1) ++step_;
  at_ = space.sample(random_);
}

std::vector<uint64_t> ExhaustiveSearch::propose(int count) {
  std::vector<uint64_t> result;
  for (; static_cast<int>(result.size()) < count && visited_ < space_.size(); ++visited_) {
    if (!history_.is_seen(at_)) result.push_back(at_);
    at_ = (at_ + step_) % space_.size();
  }
  return result;
}

}  // namespace attune::tune
