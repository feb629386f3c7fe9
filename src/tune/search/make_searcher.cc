#include "tune/search/make_searcher.h"

#include "base/error.h"
#include "base/suggest.h"
#include "tune/search/auto_search.h"
#include "tune/search/exhaustive.h"
#include "tune/search/genetic.h"
#include "tune/search/gp_search.h"
#include "tune/search/model_search.h"
#include "tune/search/policy.h"
#include "tune/search/random_search.h"
#include "tune/search/tpe.h"

#include <fmt/ranges.h>

namespace attune::tune {
namespace {

constexpr std::string_view kNames[] = {"exhaustive", "random", "genetic", "rl",  "bayesian",
                                       "tpe",        "gp",     "model",   "auto"};
// A Gaussian process is worth its milliseconds while trials are few; the densities of TPE cost nothing.
constexpr int kGaussianBudget = 300;
// Several models together come near the best sooner, so that more of the budget is worth spending around it.
constexpr double kAutoPolishShare = 0.5;

}  // namespace

std::span<const std::string_view> searcher_names() { return kNames; }

std::unique_ptr<Searcher> make_bare_searcher(std::string_view name, const Space& space, const SearchOptions& options) {
  if (name == "exhaustive") return std::make_unique<ExhaustiveSearch>(space, options);
  if (name == "random") return std::make_unique<RandomSearch>(space, options);
  if (name == "genetic") return std::make_unique<GeneticSearch>(space, options);
  if (name == "rl") return std::make_unique<PolicySearch>(space, options);
  if (name == "bayesian")
    return make_bare_searcher(options.budget > 0 && options.budget <= kGaussianBudget ? "gp" : "tpe", space, options);
  if (name == "tpe") return std::make_unique<TpeSearch>(space, options);
  if (name == "gp") return std::make_unique<GpSearch>(space, options);
  if (name == "model") return std::make_unique<ModelSearch>(space, options);
  if (name == "auto") return std::make_unique<AutoSearch>(space, options);
  const auto meant = nearest(name, kNames);
  throw UserError("there is no search '{}'{}; there are {}", name,
                  meant ? fmt::format(", did you mean '{}'?", *meant) : "", fmt::join(kNames, ", "));
}

std::unique_ptr<GuidedSearch> make_searcher(std::string_view name, const Space& space, const SearchOptions& options) {
  GuideOptions guide;
  if (name == "random" || name == "exhaustive") guide.polish_share = 0;
  if (name == "auto") guide.polish_share = kAutoPolishShare;
  return std::make_unique<GuidedSearch>(space, options, make_bare_searcher(name, space, options), guide);
}

}  // namespace attune::tune
