// Searches by name.
#pragma once

#include "tune/search/guided_search.h"

#include <span>

namespace attune::tune {

/// exhaustive, random, genetic, rl, bayesian, tpe, gp, model, auto.
std::span<const std::string_view> searcher_names();

/// The bare algorithm. Throws UserError for an unknown name, and for 'model' where XGBoost is missing.
std::unique_ptr<Searcher> make_bare_searcher(std::string_view name, const Space& space, const SearchOptions& options);

/// The algorithm with the default and the points of `options.first` before it and a polish after it; random and
/// exhaustive have no polish.
std::unique_ptr<GuidedSearch> make_searcher(std::string_view name, const Space& space, const SearchOptions& options);

}  // namespace attune::tune
