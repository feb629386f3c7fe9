// Bayesian optimisation with a Gaussian process: the best at few trials, at milliseconds for each.
#pragma once

#include "space/encoding.h"
#include "tune/search/candidates.h"
#include "tune/search/gaussian_process.h"
#include "tune/search/searcher.h"

namespace attune::tune {

struct GpOptions {
  size_t initial = 12;
  double rescale_growth = 1.25;  // length scales are chosen anew when this many times more points are known
  size_t max_points = 400;       // half of them the best, half the latest
  double noise = 0.05;           // standard deviations of what is measured
  double tail = 1;  // by what differences among the slower half count: how slow the slow are matters little
  CandidateOptions candidates{2, 120, 100};
};

class GpSearch final : public Searcher {
 public:
  GpSearch(const Space& space, SearchOptions options, GpOptions gp = {});
  std::string_view name() const override { return "gp"; }
  std::vector<double> promise(const std::vector<uint64_t>& candidates) override;

 protected:
  std::vector<uint64_t> propose(int count) override;

 private:
  std::vector<double> features(const Point& point) const;
  void update();

  GpOptions gp_;
  Encoding encoding_;
  std::vector<double> feature_scale_;
  GaussianProcess process_;
  size_t fitted_ = 0, scaled_ = 0;  // points known when the process was last fitted, and its scales chosen
};

}  // namespace attune::tune
