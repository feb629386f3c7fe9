#include "job/sgat.h"

#include "base/parallel.h"
#include "job/layout_record.h"
#include "job/partition_runner.h"
#include "job/partition_search.h"
#include "tune/search/mode.h"

#include <algorithm>

namespace attune {
namespace {

/// Every candidate of every subgraph, one of each at a time, the model running with all of them together: their steps
/// tell who gains.
void try_each(SgatJob& job, PartitionStage& stage, double round_s) {
  while (!stage.proposals().empty() && !job.clock.stopped()) {
    if (job.clock.left_s() < stage.needed_s(round_s)) {
      job.result.end = JobEnd::budget_spent;
      return;
    }
    stage.try_proposals(round_s);
  }
}

/// The layouts that an operator tuning of the model found: subgraphs are judged in those that they will have.
SessionOptions with_known_layouts(const Graph& model, const InputMaker& make_inputs, const JobOptions& options) {
  SessionOptions session = options.session;
  if (options.bank == nullptr || session.layout != LayoutChoice::automatic || !session.node_layouts.empty())
    return session;
  SessionOptions by_rule = session;
  by_rule.advisor = nullptr;
  const Session untuned{Graph(model), std::move(by_rule)};
  const auto plan = untuned.plan(make_inputs(untuned.graph()));
  if (const auto known = recall_layouts({*plan, session, thread_count()}, *options.bank))
    session.node_layouts = known->node_layouts;
  return session;
}

}  // namespace

std::vector<Subgraph> plan_sgat(const Session& session, std::span<const Tensor> inputs) {
  return find_subgraphs(session.rewrites(), *session.plan(inputs), time_steps(session, inputs));
}

std::string partition_algorithm(const std::string& name) {
  const auto names = tune::searcher_names();
  if (std::ranges::find(names, name) != names.end()) return name;
  const tune::TuneMode mode = tune::parse_tune_mode(name);
  return mode.uses_ga ? "genetic" : mode.uses_rl ? "rl" : "";
}

TuningOutcome run_sgat(const Graph& model, const InputMaker& make_inputs, const JobOptions& sgat_options) {
  constexpr double kRoundShare = 0.07, kShortestRound = 0.3, kLongestRound = 8;  // of the budget; seconds
  const std::string algorithm = partition_algorithm(sgat_options.algorithm);
  JobClock clock(sgat_options.budget_s, sgat_options.stop);
  JobOptions options = sgat_options;
  options.session = with_known_layouts(model, make_inputs, sgat_options);
  Session before(Graph(model), options.session);
  const std::vector<Tensor> inputs = make_inputs(before.graph());
  SgatJob job(options, std::move(clock), before, inputs);
  PartitionStage stage(
      job, std::make_unique<PartitionRunner>(model, before, inputs, job.subgraphs, runner_options(options)));
  stage.recall();
  const double round_s = std::clamp(options.budget_s * kRoundShare, kShortestRound, kLongestRound);
  if (algorithm == "auto")
    try_each(job, stage, round_s);
  else if (!algorithm.empty() && !job.subgraphs.empty())
    search_partitions(job, stage, algorithm, round_s);
  std::optional<Session> after = stage.conclude();
  if (job.subgraphs.empty()) job.result.conclusion = "the default plan is kept: the model has no subgraph to decide on";
  return job.finish(std::move(before), std::move(after), inputs);
}

}  // namespace attune
