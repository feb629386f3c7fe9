// Regression by a Gaussian process with a Matern-5/2 kernel and a length scale for each group of features.
#pragma once

#include <cstddef>
#include <vector>

namespace attune::tune {

class GaussianProcess {
 public:
  using Rows = std::vector<std::vector<double>>;
  struct Prediction {
    double mean, deviation;
  };

  /// `group[i]` is the parameter that feature i belongs to; features of a group share their scale.
  explicit GaussianProcess(std::vector<size_t> group);

  /// Conditions on values at points, with noise of this standard deviation in units of the values' own. Points that
  /// were there before, in the same order, cost little.
  void fit(Rows points, const std::vector<double>& values, double noise);
  /// Chooses length scales by marginal likelihood: one for all, then each by halving and doubling.
  void choose_scales();
  std::vector<Prediction> predict(const Rows& points) const;

 private:
  double kernel(const std::vector<double>& a, const std::vector<double>& b) const;
  /// Returns the log marginal likelihood under the present scales; rows before `first` are kept as they are.
  double factorise(size_t first = 0);

  std::vector<size_t> group_;
  std::vector<double> inverse_scale_;  // of each feature, squared
  Rows points_;
  std::vector<double> values_, weighted_;  // standardised; and times the inverse matrix
  std::vector<double> factor_;             // lower triangle, row after row
  double noise_ = 0, mean_ = 0, deviation_ = 1;
};

/// How much below `best` a minimum may be expected (expected improvement); the larger the better.
double expected_improvement(const GaussianProcess::Prediction& prediction, double best);

}  // namespace attune::tune
