// Every point once, in an order that covers the space evenly from the start: an interrupted run is a fair sample.
#pragma once

#include "tune/search/searcher.h"

namespace attune::tune {

class ExhaustiveSearch final : public Searcher {
 public:
  ExhaustiveSearch(const Space& space, SearchOptions options);
  std::string_view name() const override { return "exhaustive"; }

 protected:
  std::vector<uint64_t> propose(int count) override;

 private:
  uint64_t step_ = 1, at_ = 0, visited_ = 0;
};

}  // namespace attune::tune
