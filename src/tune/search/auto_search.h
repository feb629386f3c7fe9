// Chooses by size and budget: everything where that is affordable, else a learned model, a Gaussian process and the
// densities of TPE together, which fail on different spaces.
#pragma once

#include "tune/search/candidates.h"
#include "tune/search/searcher.h"

namespace attune::tune {

enum class Mix : uint8_t {
  turns,  // members ask one after the other
  ranks   // all members rank common candidates, and the best sum of ranks is asked
};

struct AutoOptions {
  uint64_t small_space = 64;  // measured whole when no budget is given
  size_t initial = 20;        // random points first, but no more than a fifth of the budget
  size_t without_last = 400;  // trials from which a Gaussian process takes longer than it is worth
  Mix mix = Mix::ranks;
  std::vector<std::string> members = {"model", "tpe", "gp"};  // a build without XGBoost goes without the model
  CandidateOptions candidates{4, 160, 240};
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
  size_t initial_points() const;

  AutoOptions automatic_;
  std::vector<std::unique_ptr<Searcher>> members_;
  size_t turn_ = 0;
};

}  // namespace attune::tune
