// Points at random, each once: the baseline that every other search has to beat.
#pragma once

#include "tune/search/permutation.h"
#include "tune/search/searcher.h"

namespace attune::tune {

class RandomSearch final : public Searcher {
 public:
  RandomSearch(const Space& space, SearchOptions options)
      : Searcher(space, std::move(options)), order_(space.size(), random_.next()) {}
  std::string_view name() const override { return "random"; }

 protected:
  std::vector<uint64_t> propose(int count) override;

 private:
  IndexPermutation order_;
  uint64_t place_ = 0;
};

}  // namespace attune::tune
