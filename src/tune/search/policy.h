// The search called `rl`: a policy that draws each parameter from a distribution of its own, and moves the
// distributions towards the best of each batch (PBIL; Baluja, 1994). Trials are too few here to learn more of a policy.
#pragma once

#include "tune/search/searcher.h"

namespace attune::tune {

struct PolicyOptions {
  size_t batch = 6;
  double learning_rate = 0.35;
  double floor = 0.15;  // share of every distribution that stays even
};

class PolicySearch final : public Searcher {
 public:
  PolicySearch(const Space& space, SearchOptions options, PolicyOptions policy = {});
  std::string_view name() const override { return "rl"; }

 protected:
  std::vector<uint64_t> propose(int count) override;
  void learn(const Observation& observation) override;

 private:
  uint64_t draw();
  void update();

  PolicyOptions policy_;
  std::vector<std::vector<double>> chances_;  // of each value of each parameter, absence last where it can be
  std::vector<Observation> batch_;
};

}  // namespace attune::tune
