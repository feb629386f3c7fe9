// Points that a model is asked about: the surroundings of the best, mixtures of them, and random ones lest the search
// stay there.
#pragma once

#include "tune/search/history.h"

namespace attune::tune {

struct CandidateOptions {
  size_t tops = 3;              // whose neighbours are candidates
  size_t max_neighbours = 120;  // of all of them
  size_t random = 60;
  size_t strides = 0;   // one of the best with two parameters changed
  size_t children = 0;  // each parameter from one of two of the best
  size_t parents = 8;   // who counts as one of the best for these two
};

/// Not seen, each once.
std::vector<uint64_t> make_candidates(const Space& space, const History& history, Random& random,
                                      const CandidateOptions& options);

}  // namespace attune::tune
