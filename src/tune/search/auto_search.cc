#include "tune/search/auto_search.h"

#include "tune/search/exhaustive.h"
#include "tune/search/gp_search.h"
#include "tune/search/model_search.h"

namespace attune::tune {

AutoSearch::AutoSearch(const Space& space, SearchOptions options, AutoOptions automatic)
    : Searcher(space, std::move(options)), automatic_(automatic) {
  const auto affordable = options_.budget > 0 ? static_cast<uint64_t>(options_.budget) : automatic_.small_space;
  SearchOptions own = options_;
  own.seed = random_.next();
  if (space.size() <= affordable)
    inner_ = std::make_unique<ExhaustiveSearch>(space, own);
  else if (!options_.prior.empty() && BoostedTrees::is_available())
    inner_ = std::make_unique<ModelSearch>(space, own);
  else
    inner_ = std::make_unique<GpSearch>(space, own);
}

std::vector<uint64_t> AutoSearch::propose(int count) {
  if (inner_->name() == "gp" && history_.ranking().size() >= automatic_.model_after && BoostedTrees::is_available()) {
    SearchOptions own = options_;
    own.seed = random_.next();
    inner_ = std::make_unique<ModelSearch>(space_, own);
    for (const Observation& observation : told_) inner_->tell(observation);
  }
  return inner_->ask(count);
}

void AutoSearch::learn(const Observation& observation) {
  told_.push_back(observation);
  inner_->tell(observation);
}

}  // namespace attune::tune
