// Wraps any search with what every tuning wants: the default and known good points first, and the whole surroundings of
// the best one last.
#pragma once

#include "tune/search/searcher.h"

namespace attune::tune {

struct GuideOptions {
  double polish_share = 0.2;  // of the budget, for neighbours of the best point
};

class GuidedSearch final : public Searcher {
 public:
  /// `inner` searches the same space.
  GuidedSearch(const Space& space, SearchOptions options, std::unique_ptr<Searcher> inner, GuideOptions guide = {});
  std::string_view name() const override { return inner_->name(); }
  std::vector<double> promise(const std::vector<uint64_t>& candidates) override { return inner_->promise(candidates); }
  /// From now on only neighbours of the best point are asked, until there are none left: for whoever sees the time run
  /// out. Not part of what save() keeps.
  void polish() { is_polishing_ = true; }

 protected:
  std::vector<uint64_t> propose(int count) override;
  void learn(const Observation& observation) override { inner_->tell(observation); }

 private:
  std::vector<uint64_t> surroundings(int count);

  std::unique_ptr<Searcher> inner_;
  GuideOptions guide_;
  std::vector<uint64_t> first_;
  size_t next_first_ = 0;
  bool is_polishing_ = false;
};

}  // namespace attune::tune
