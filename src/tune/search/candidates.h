// Points that a model is asked about: the surroundings of the best, and random ones lest the search stay there.
#pragma once

#include "tune/search/history.h"

namespace attune::tune {

struct CandidateOptions {
  size_t tops = 3;              // whose neighbours are candidates
  size_t max_neighbours = 120;  // of all of them
  size_t random = 60;
};

/// Not seen, each once.
std::vector<uint64_t> make_candidates(const Space& space, const History& history, Random& random,
                                      const CandidateOptions& options);

}  // namespace attune::tune
