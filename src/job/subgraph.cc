#include "job/subgraph.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune {
namespace {

constexpr std::string_view kKeyBegin = "subgraph@";
constexpr const char* kFused = "fused";
constexpr const char* kApart = "apart";
constexpr const char* kNothing = "nothing";

/// "Conv + Add" of the first parts.
std::string operators_text(std::span<const rewrite::PlacePart> parts) {
  std::string text;
  for (const rewrite::PlacePart& part : parts) text += (text.empty() ? "" : " + ") + part.op;
  return text;
}

std::vector<rewrite::PlacePart> all_parts(const rewrite::Place& place) {
  std::vector<rewrite::PlacePart> parts = {place.anchor};
  parts.insert(parts.end(), place.parts.begin(), place.parts.end());
  return parts;
}

NodeNames names_of(const rewrite::Place& place) {
  NodeNames names;
  for (const rewrite::PlacePart& part : all_parts(place)) names.insert(part.name);
  return names;
}

std::vector<FusionCandidate> candidates_of(const rewrite::Place& place, const std::string& provider) {
  const std::vector<rewrite::PlacePart> parts = all_parts(place);
  const std::span<const rewrite::PlacePart> all(parts);
  std::vector<FusionCandidate> candidates;
  // Nobody but generators has kernels for what is fused on request.
  if (!place.is_fused) return {{{"generated", {{kFused, operators_text(all)}}}, place.parts.size()}};
  candidates.push_back({{provider, {{kFused, kNothing}, {kApart, operators_text(all)}}}, 0});
  if (!place.is_chain) return candidates;
  // The more stays fused, the less likely that anything is gained: the shortest first.
  for (size_t kept = 1; kept < place.parts.size(); ++kept)
    candidates.push_back(
        {{provider, {{kFused, operators_text(all.first(kept + 1))}, {kApart, operators_text(all.subspan(kept + 1))}}},
         kept});
  return candidates;
}

/// The key of what a place became; empty where its shapes are not known.
std::string key_of(std::string_view pass, const Plan& plan, std::span<const size_t> steps) {
  std::string key;
  for (const size_t step : steps) {
    if (!plan.steps[step].kernel) return "";
    key += (key.empty() ? "" : " + ") + plan.steps[step].workload.key();
  }
  return key.empty() ? "" : fmt::format("{}{} {}", kKeyBegin, pass, key);
}

}  // namespace

NodeNames Subgraph::names() const {
  NodeNames names;
  for (const rewrite::Place& place : places) names.merge(names_of(place));
  return names;
}

const FusionCandidate* Subgraph::find(const tune::Trial& trial) const {
  const auto found = std::ranges::find(candidates, trial, &FusionCandidate::trial);
  return found == candidates.end() ? nullptr : &*found;
}

std::vector<Subgraph> find_subgraphs(std::span<const rewrite::PassResult> rewrites, const Plan& plan,
                                     std::span<const double> step_ms) {
  std::vector<Subgraph> subgraphs;
  std::map<std::pair<std::string, std::string>, size_t> known;  // by key and operators
  for (const rewrite::PassResult& pass : rewrites)
    for (const rewrite::Place& place : pass.places) {
      const std::vector<size_t> steps = steps_named(plan, names_of(place));
      const std::string key = key_of(pass.name, plan, steps);
      if (key.empty()) continue;
      const std::string whole = operators_text(all_parts(place));
      const auto [found, is_new] = known.emplace(std::pair(key, whole), subgraphs.size());
      if (is_new) {
        const std::string& provider = plan.steps[steps.front()].provider;
        Subgraph subgraph;
        subgraph.pass = pass.name;
        subgraph.key = key;
        subgraph.whole = whole;
        subgraph.on_request = !place.is_fused;
        subgraph.by_default = place.is_fused ? tune::Trial{provider, {{kFused, whole}}}
                                             : tune::Trial{provider, {{kFused, kNothing}, {kApart, whole}}};
        subgraph.candidates = candidates_of(place, provider);
        subgraphs.push_back(std::move(subgraph));
      }
      Subgraph& subgraph = subgraphs[found->second];
      subgraph.places.push_back(place);
      for (const size_t step : steps) subgraph.run_ms += step_ms[step];
    }
  std::ranges::stable_sort(subgraphs, std::ranges::greater(), &Subgraph::run_ms);
  return subgraphs;
}

void choose(const Subgraph& subgraph, const FusionCandidate& candidate, SessionOptions& options) {
  if (subgraph.on_request) {
    for (const rewrite::Place& place : subgraph.places)
      options.asked_for[subgraph.pass].names.insert(place.anchor.name);
    return;
  }
  rewrite::LeftAlone& names = options.left_alone[subgraph.pass];
  for (const rewrite::Place& place : subgraph.places) {
    if (candidate.kept == 0) names.insert(place.anchor.name);
    for (size_t i = candidate.kept; i < place.parts.size(); ++i) names.insert(place.parts[i].name);
  }
}

std::string subgraph_sentence(std::string_view workload, const Config& config) {
  const auto fused = config.find(kFused), apart = config.find(kApart);
  if (!workload.starts_with(kKeyBegin) || fused == config.end()) return "";
  const std::string_view pass = workload.substr(kKeyBegin.size(), workload.find(' ') - kKeyBegin.size());
  if (apart == config.end()) return fmt::format("all that {} fuses here is fused: {}", pass, fused->second);
  if (fused->second == kNothing) return fmt::format("what {} would fuse here is left apart: {}", pass, apart->second);
  return fmt::format("of what {} would fuse here, {} is fused and {} left apart", pass, fused->second, apart->second);
}

}  // namespace attune
