// A learned cost model: boosted trees on the features of configuration and workload. It is the one search that learns
// from other workloads (SearchOptions::prior), and the one for many trials.
#pragma once

#include "space/encoding.h"
#include "tune/search/boosted_trees.h"
#include "tune/search/candidates.h"
#include "tune/search/searcher.h"

namespace attune::tune {

struct ModelOptions {
  size_t initial = 12;  // random points first, where there are no prior records
  size_t refit_every = 8;
  double random_share = 0.05;
  double prior_weight = 0.3;  // of a record of another workload, against one of this
  CandidateOptions candidates{5, 200, 100};
  BoostedTrees::Options trees = {};
};

class ModelSearch final : public Searcher {
 public:
  /// Throws UserError with the remedy where the build has no boosted trees.
  ModelSearch(const Space& space, SearchOptions options, ModelOptions model = {});
  std::string_view name() const override { return "model"; }
  std::vector<double> promise(const std::vector<uint64_t>& candidates) override;

 protected:
  std::vector<uint64_t> propose(int count) override;

 private:
  void append_workload(std::vector<float>& row, const std::map<std::string, double>& workload) const;
  void read_prior();
  void update();

  ModelOptions model_;
  Encoding encoding_;
  BoostedTrees trees_;
  std::vector<std::string> workload_names_;
  std::vector<float> prior_rows_, prior_values_;
  size_t fitted_ = 0;
  bool is_fitted_ = false;
};

}  // namespace attune::tune
