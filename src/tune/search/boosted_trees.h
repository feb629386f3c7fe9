// Gradient-boosted trees that predict a number from features, missing ones included. The only place that sees XGBoost,
// which is optional.
#pragma once

#include <memory>
#include <vector>

namespace attune::tune {

class BoostedTrees {
 public:
  /// Whether this build has them.
  static bool is_available();

  struct Options {
    int trees = 100, depth = 4;
    double learning_rate = 0.1, l2 = 1, min_child_weight = 2;
  };

  /// Throws UserError with the remedy where they are not available.
  explicit BoostedTrees(Options options);
  ~BoostedTrees();

  /// Rows of equal width, row after row.
  void fit(const std::vector<float>& rows, const std::vector<float>& values, const std::vector<float>& weights);
  std::vector<float> predict(const std::vector<float>& rows, size_t count) const;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};

}  // namespace attune::tune
