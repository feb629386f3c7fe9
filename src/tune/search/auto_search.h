// Chooses the algorithm by size and budget: everything where that is affordable, else Bayesian optimisation while
// trials are few and the learned model once they are many.
#pragma once

#include "tune/search/searcher.h"

namespace attune::tune {

struct AutoOptions {
  uint64_t small_space = 64;  // measured whole when no budget is given
  size_t model_after = 300;   // trials from which the model takes over, where it is available
};

class AutoSearch final : public Searcher {
 public:
  AutoSearch(const Space& space, SearchOptions options, AutoOptions automatic = {});
  std::string_view name() const override { return "auto"; }
  std::vector<double> promise(const std::vector<uint64_t>& candidates) override { return inner().promise(candidates); }

 protected:
  std::vector<uint64_t> propose(int count) override;
  void learn(const Observation& observation) override;

 private:
  Searcher& inner() { return *inner_; }

  AutoOptions automatic_;
  std::unique_ptr<Searcher> inner_;
  std::vector<Observation> told_;
};

}  // namespace attune::tune
