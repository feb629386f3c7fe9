#include "job/partition_search.h"

namespace attune {
namespace {

constexpr const char* kWhole = "whole";

std::string parameter_name(size_t subgraph) { return "subgraph_" + std::to_string(subgraph); }

/// What the partition should take as a share of the default, where all of its parts were judged.
std::optional<double> expected_cost(const SgatJob& job, const PartitionStage& stage, const Choices& choices) {
  double saved_ms = 0;
  for (const auto& [subgraph, trial] : choices) {
    if (!stage.is_judged(subgraph, trial)) return std::nullopt;
    saved_ms += stage.judge().find(subgraph, trial)->effect.median_saved_ms();
  }
  constexpr double kLeast = 0.01;
  return std::max(kLeast, 1 - saved_ms / job.run_ms);
}

}  // namespace

Space partition_space(std::span<const Subgraph> subgraphs) {
  constexpr double kMostPoints = 1e15;
  Space space;
  Config all_whole;
  double points = 1;
  for (size_t i = 0; i < subgraphs.size(); ++i) {
    points *= static_cast<double>(subgraphs[i].candidates.size() + 1);
    if (points > kMostPoints) break;
    std::vector<std::string> values = {kWhole};
    for (const FusionCandidate& candidate : subgraphs[i].candidates)
      values.push_back("keep " + std::to_string(candidate.kept));
    space.categorical(parameter_name(i), std::move(values));
    all_whole[parameter_name(i)] = kWhole;
  }
  space.set_default(std::move(all_whole));
  return std::move(space.build());
}

Choices choices_at(const Space& space, uint64_t point, std::span<const Subgraph> subgraphs) {
  const Point values = space.point_at(point);
  Choices choices;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] > 0) choices[i] = subgraphs[i].candidates.at(values[i] - size_t{1}).trial;
  return choices;
}

void search_partitions(SgatJob& job, PartitionStage& stage, const std::string& algorithm, double round_s) {
  constexpr int kMostGuesses = 1000;  // in a row that need no run: nothing new is asked any more
  const Space space = partition_space(job.subgraphs);
  tune::SearchOptions options;
  options.seed = job.common.seed;
  options.budget = static_cast<int>(std::min<int64_t>(job.common.most_trials, 1000));
  const auto searcher = tune::make_searcher(algorithm, space, options);
  for (int guesses = 0, runs = 0; guesses < kMostGuesses;) {
    if (job.clock.stopped() || job.clock.left_s() < stage.needed_s(round_s)) break;
    const std::vector<uint64_t> asked = searcher->ask(1);
    if (asked.empty()) break;
    const Choices choices = stage.compatible(choices_at(space, asked[0], job.subgraphs));
    std::optional<double> cost = choices.empty() ? 1.0 : expected_cost(job, stage, choices);
    ++guesses;
    if (!cost) {
      if (job.common.most_trials > 0 && runs >= job.common.most_trials) break;
      cost = stage.try_partition(choices, round_s);
      ++runs;
      guesses = 0;
    }
    if (job.clock.stopped()) break;
    searcher->tell({asked[0], cost ? Outcome::ok : Outcome::wrong, cost.value_or(0)});
  }
}

}  // namespace attune
