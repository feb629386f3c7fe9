// Bayesian optimisation by densities (TPE; Bergstra et al., 2011): how often good points have a value against how often
// the others have it, each parameter by itself. As good as a Gaussian process on most spaces, at a fraction of the
// cost.
#pragma once

#include "tune/search/candidates.h"
#include "tune/search/searcher.h"

namespace attune::tune {

struct TpeOptions {
  size_t initial = 12;  // random points first
  double good_share = 0.15;
  size_t min_good = 4;
  double prior_weight = 1;        // spread evenly over the values of a parameter
  double adjacent_weight = 0.25;  // what a point says of the next smaller and larger value, where values are ordered
  double random_share = 0.05;     // asked at random once `random_after` points are known
  size_t random_after = 100;
  CandidateOptions candidates{3, 120, 80};
};

class TpeSearch final : public Searcher {
 public:
  TpeSearch(const Space& space, SearchOptions options, TpeOptions tpe = {})
      : Searcher(space, std::move(options)), tpe_(tpe) {}
  std::string_view name() const override { return "tpe"; }
  std::vector<double> promise(const std::vector<uint64_t>& candidates) override;

 protected:
  std::vector<uint64_t> propose(int count) override;

 private:
  using Table = std::vector<std::vector<double>>;  // of each parameter: the log ratio of each value, absence last
  Table log_ratios() const;

  TpeOptions tpe_;
};

}  // namespace attune::tune
