// A genetic algorithm with a steady state: children replace the worst one by one, so the best never get lost. On 20
// recorded spaces it went a third of the way from random to the optimum within 100 trials, a generational one a tenth.
#pragma once

#include "tune/search/searcher.h"

namespace attune::tune {

struct GeneticOptions {
  size_t population = 16;
  int tournament = 3;
  double mutations = 1;       // expected for each child
  int patience = 25;          // trials without improvement until a random point joins
  int novelty_attempts = 20;  // to make a child that was not seen
};

class GeneticSearch final : public Searcher {
 public:
  GeneticSearch(const Space& space, SearchOptions options, GeneticOptions genetic = {})
      : Searcher(space, std::move(options)), genetic_(genetic) {}
  std::string_view name() const override { return "genetic"; }

 protected:
  std::vector<uint64_t> propose(int count) override;
  void learn(const Observation& observation) override;

 private:
  const Point& pick_parent();
  std::optional<uint64_t> make_child();

  GeneticOptions genetic_;
  double best_ = 0;
  int since_improvement_ = 0;
  bool has_best_ = false;
};

}  // namespace attune::tune
