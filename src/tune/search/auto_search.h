// Chooses by size and budget: everything where that is affordable, else a learned model and a Gaussian process
// together, which fail on different spaces.
#pragma once

#include "tune/search/candidates.h"
#include "tune/search/gp_search.h"
#include "tune/search/model_search.h"
#include "tune/search/searcher.h"

namespace attune::tune {

enum class Mix : uint8_t {
  turns,  // members ask one after the other
  ranks   // all members rank common candidates, and the best sum of ranks is asked
};

struct AutoOptions {
  uint64_t small_space = 64;  // measured whole when no budget is given
  size_t initial = 12;        // points first that are spread over the space
  int spread = 1;             // random points of which each of these is the one farthest from all known ones
  size_t model_only = 400;    // trials from which a Gaussian process takes longer than it is worth
  Mix mix = Mix::ranks;
  std::vector<std::string> members = {"model", "gp"};  // without XGBoost the densities of TPE stand in for the model
  CandidateOptions candidates{4, 160, 240};
  ModelOptions model = {};
  GpOptions gp = {};
};

class AutoSearch final : public Searcher {
 public:
  AutoSearch(const Space& space, SearchOptions options, AutoOptions automatic = {});
  std::string_view name() const override { return "auto"; }
  /// By ranks among the candidates.
  std::vector<double> promise(const std::vector<uint64_t>& candidates) override;

 protected:
  std::vector<uint64_t> propose(int count) override;
  void learn(const Observation& observation) override;

 private:
  size_t active_members() const;
  std::optional<uint64_t> spread_point();

  AutoOptions automatic_;
  Encoding encoding_;
  std::vector<std::unique_ptr<Searcher>> members_;
  size_t turn_ = 0;
};

}  // namespace attune::tune
