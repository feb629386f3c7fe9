#include "tune/search/random_search.h"

namespace attune::tune {

std::vector<uint64_t> RandomSearch::propose(int count) {
  std::vector<uint64_t> result;
  while (static_cast<int>(result.size()) < count && place_ < space_.size())
    if (const uint64_t index = order_(place_++); !history_.is_seen(index)) result.push_back(index);
  return result;
}

}  // namespace attune::tune
