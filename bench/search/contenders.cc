#include "contenders.h"

#include "base/error.h"
#include "tune/search/auto_search.h"
#include "tune/search/boosted_trees.h"
#include "tune/search/genetic.h"
#include "tune/search/gp_search.h"
#include "tune/search/model_search.h"
#include "tune/search/policy.h"
#include "tune/search/tpe.h"

namespace attune::bench {
namespace {

/// With the guide that ships around it, unless another is given.
template <class Search, class Options> Contender variant(std::string name, Options own, tune::GuideOptions guide = {}) {
  return {std::move(name), [own, guide](const Space& space, const tune::SearchOptions& options) {
            return std::make_unique<tune::GuidedSearch>(space, options, std::make_unique<Search>(space, options, own),
                                                        guide);
          }};
}

VariantGroup genetic_variants() {
  VariantGroup group{"genetic", {variant<tune::GeneticSearch>("as shipped", tune::GeneticOptions{})}};
  for (const size_t population : {8, 24})
    group.variants.push_back(variant<tune::GeneticSearch>(fmt::format("population {}", population),
                                                          tune::GeneticOptions{.population = population}));
  for (const double mutations : {0.5, 2.0})
    group.variants.push_back(variant<tune::GeneticSearch>(fmt::format("{} mutations", mutations),
                                                          tune::GeneticOptions{.mutations = mutations}));
  group.variants.push_back(
      variant<tune::GeneticSearch>("no polish", tune::GeneticOptions{}, tune::GuideOptions{.polish_share = 0}));
  return group;
}

VariantGroup policy_variants() {
  VariantGroup group{"rl", {variant<tune::PolicySearch>("as shipped", tune::PolicyOptions{})}};
  for (const double rate : {0.2, 0.5})
    group.variants.push_back(
        variant<tune::PolicySearch>(fmt::format("rate {}", rate), tune::PolicyOptions{.learning_rate = rate}));
  for (const double floor : {0.05, 0.3})
    group.variants.push_back(
        variant<tune::PolicySearch>(fmt::format("floor {}", floor), tune::PolicyOptions{.floor = floor}));
  group.variants.push_back(variant<tune::PolicySearch>("batch 4", tune::PolicyOptions{.batch = 4}));
  group.variants.push_back(
      variant<tune::PolicySearch>("no polish", tune::PolicyOptions{}, tune::GuideOptions{.polish_share = 0}));
  return group;
}

VariantGroup tpe_variants() {
  VariantGroup group{"tpe", {variant<tune::TpeSearch>("as shipped", tune::TpeOptions{})}};
  for (const size_t initial : {8, 20})
    group.variants.push_back(
        variant<tune::TpeSearch>(fmt::format("{} first", initial), tune::TpeOptions{.initial = initial}));
  for (const double weight : {0.0, 0.5})
    group.variants.push_back(
        variant<tune::TpeSearch>(fmt::format("adjacent {}", weight), tune::TpeOptions{.adjacent_weight = weight}));
  for (const double share : {0.1, 0.25})
    group.variants.push_back(
        variant<tune::TpeSearch>(fmt::format("good {}", share), tune::TpeOptions{.good_share = share}));
  group.variants.push_back(
      variant<tune::TpeSearch>("no polish", tune::TpeOptions{}, tune::GuideOptions{.polish_share = 0}));
  return group;
}

VariantGroup gp_variants() {
  VariantGroup group{"gp", {variant<tune::GpSearch>("as shipped", tune::GpOptions{})}};
  for (const size_t initial : {8, 20})
    group.variants.push_back(
        variant<tune::GpSearch>(fmt::format("{} first", initial), tune::GpOptions{.initial = initial}));
  for (const double noise : {0.02, 0.1})
    group.variants.push_back(variant<tune::GpSearch>(fmt::format("noise {}", noise), tune::GpOptions{.noise = noise}));
  for (const double tail : {0.1, 1.0})
    group.variants.push_back(variant<tune::GpSearch>(fmt::format("tail {}", tail), tune::GpOptions{.tail = tail}));
  group.variants.push_back(variant<tune::GpSearch>(
      "more candidates", tune::GpOptions{.candidates = {.tops = 4, .max_neighbours = 200, .random = 300}}));
  group.variants.push_back(
      variant<tune::GpSearch>("no polish", tune::GpOptions{}, tune::GuideOptions{.polish_share = 0}));
  return group;
}

VariantGroup model_variants() {
  VariantGroup group{"model", {variant<tune::ModelSearch>("as shipped", tune::ModelOptions{})}};
  group.variants.push_back(variant<tune::ModelSearch>("refit every 4", tune::ModelOptions{.refit_every = 4}));
  group.variants.push_back(variant<tune::ModelSearch>("random 0", tune::ModelOptions{.random_share = 0}));
  group.variants.push_back(variant<tune::ModelSearch>(
      "500 candidates", tune::ModelOptions{.candidates = {.tops = 5, .max_neighbours = 200, .random = 300}}));
  group.variants.push_back(variant<tune::ModelSearch>("depth 6", tune::ModelOptions{.trees = {.depth = 6}}));
  group.variants.push_back(variant<tune::ModelSearch>("20 first", tune::ModelOptions{.initial = 20}));
  group.variants.push_back(
      variant<tune::ModelSearch>("no polish", tune::ModelOptions{}, tune::GuideOptions{.polish_share = 0}));
  return group;
}

VariantGroup auto_variants() {
  VariantGroup group{"auto", {}};
  const auto add = [&](const std::string& name, double polish_share, const auto& change) {
    tune::AutoOptions options;
    change(options);
    group.variants.push_back(
        variant<tune::AutoSearch>(name, options, tune::GuideOptions{.polish_share = polish_share}));
  };
  add("as shipped", 0.5, [](auto&) {});
  add("12 first", 0.5, [](auto& options) { options.initial = 12; });
  add("polish 0.35", 0.35, [](auto&) {});
  add("12 first, polish 0.35", 0.35, [](auto& options) { options.initial = 12; });
  add("16 first, polish 0.35", 0.35, [](auto& options) { options.initial = 16; });
  add("24 first, polish 0.35", 0.35, [](auto& options) { options.initial = 24; });
  add("model and gp, 12 first, polish 0.35", 0.35, [](auto& options) {
    options.members = {"model", "gp"};
    options.initial = 12;
  });
  return group;
}

}  // namespace

std::vector<Contender> shipped_contenders() {
  std::vector<Contender> result;
  for (const std::string_view name : tune::searcher_names()) {
    if (name == "bayesian") continue;  // gp or tpe, which are here themselves
    if (name == "model" && !tune::BoostedTrees::is_available()) continue;
    result.push_back({std::string(name), [name](const Space& space, const tune::SearchOptions& options) {
                        return tune::make_searcher(name, space, options);
                      }});
  }
  return result;
}

std::vector<VariantGroup> variant_groups() {
  std::vector<VariantGroup> groups{genetic_variants(), policy_variants(), tpe_variants(), gp_variants()};
  if (tune::BoostedTrees::is_available()) groups.push_back(model_variants());
  groups.push_back(auto_variants());
  return groups;
}

}  // namespace attune::bench
