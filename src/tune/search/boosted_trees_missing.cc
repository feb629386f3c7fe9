// Builds without XGBoost.
#include "tune/search/boosted_trees.h"

#include "base/error.h"

namespace attune::tune {

struct BoostedTrees::Inner {};

bool BoostedTrees::is_available() { return false; }

BoostedTrees::BoostedTrees(Options) {
  throw UserError(
      "the search 'model' needs XGBoost, which this build has not; install libxgboost-dev and build again, or "
      "choose 'bayesian'");
}

BoostedTrees::~BoostedTrees() = default;

void BoostedTrees::fit(const std::vector<float>&, const std::vector<float>&, const std::vector<float>&) {}

std::vector<float> BoostedTrees::predict(const std::vector<float>&, size_t) const { return {}; }

}  // namespace attune::tune
