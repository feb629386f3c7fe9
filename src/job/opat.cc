#include "job/opat.h"

#include "job/kernel_stage.h"
#include "job/nearest.h"
#include "job/recall.h"
#include "job/search_loop.h"
#include "job/settle_layouts.h"
#include "tune/search/make_searcher.h"
#include "tune/search/mode.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace attune {
namespace {

/// When the search pauses for a look at the model, in seconds: early and often, so that most of the gain is there
/// within the first minute however long the job may take.
std::vector<double> pauses(double budget_s) {
  constexpr double kFirst = 12.5, kFirstShare = 0.35, kGrowth = 1.6;
  std::vector<double> result;
  for (double pause = std::min(kFirst, budget_s * kFirstShare); pause < budget_s; pause *= kGrowth)
    result.push_back(pause);
  return result;
}

/// Enough runs to tell kernels apart, but no larger a share of the budget than pays.
double round_length(double run_s, double budget_s) {
  constexpr double kPairs = 60, kShare = 0.07, kShortest = 0.3, kEnough = 2.5, kLongest = 8;  // shares, seconds
  const double most = std::clamp(budget_s * kShare, kShortest, kLongest);
  return std::min(most, std::max(kEnough, 2 * kPairs * run_s));
}

/// The best of each task, then the next ones where rounds are short: alone, they are often a tie.
void judge_some(const OpatJob& job, ModelStage& stage, double round_s) {
  constexpr double kLongest = 6;  // seconds
  for (double spent = 0; spent == 0 || spent + round_s <= kLongest; spent += round_s) {
    if (job.clock.stopped() || stage.proposals().empty()) return;
    stage.judge_proposals(round_s);
  }
}

/// Searches and judges in turn until the budget is spent or nothing promises more than the noise.
void search_and_judge(OpatJob& job, ModelStage& stage) {
  constexpr double kSearchShare = 0.6, kLeastSearchShare = 0.4;  // the rest is for the model; large ones need more
  const double budget_s = job.clock.budget_s();
  const double round_s = round_length(job.run_ms / 1000, budget_s);
  for (const double pause : pauses(budget_s)) {
    const double last =
        std::clamp(budget_s - stage.needed_s(round_s), budget_s * kLeastSearchShare, budget_s * kSearchShare);
    const bool is_last = pause * 1.25 > last;
    const SearchEnd end = search_tasks(job, is_last ? last : pause);
    job.result.end = end == SearchEnd::limit ? JobEnd::budget_spent : JobEnd::finished;
    judge_some(job, stage, round_s);
    if (is_last || end == SearchEnd::nothing_promises || !job.has_trials() || job.clock.stopped()) break;
  }
  // Second and third of the candidates, while there is time.
  while (!job.clock.stopped() && job.clock.left_s() > stage.needed_s(round_s) && !stage.proposals().empty())
    stage.judge_proposals(round_s);
  // The winner of a few short rounds was lucky too; more of them let a repeated job choose alike.
  constexpr int kMostRounds = 10;
  for (int i = 0; i < kMostRounds && !job.clock.stopped() && job.clock.left_s() > 2 * stage.needed_s(round_s); ++i)
    if (!stage.tell_rivals_apart(round_s)) break;
}

/// The search by name, or what a mode such as "RL,GA" has for the operator; empty: it is not tuned.
std::string algorithm_for(const std::string& name, const Workload& workload) {
  const auto names = tune::searcher_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  constexpr std::string_view kCubes[] = {"Conv",      "ConvTranspose", "MatMul",         "Gemm",
                                         "FusedConv", "FusedMatMul",   "FusedSeparable", "ShuffledConv"};
  const bool cube = std::find(std::begin(kCubes), std::end(kCubes), workload.op) != std::end(kCubes);
  return std::string(
      tune::searcher_for(tune::parse_tune_mode(name), cube ? tune::OperatorKind::cube : tune::OperatorKind::vector));
}

/// Whoever gave more time than was used wants to know why.
void explain_early_end(OpatJob& job) {
  constexpr double kEarly = 0.8;  // of the budget
  if (job.result.end != JobEnd::finished || !job.clock.has_time(kEarly)) return;
  job.result.conclusion +=
      fmt::format("; it ended after {:.0f} s of {:.0f} s, since nothing left promises more than noise",
                  job.clock.seconds(), job.clock.budget_s());
}

}  // namespace

void count_trials(OpatJob& job) {
  for (size_t i = 0; i < job.searches.size(); ++i) job.result.tasks[i].tried = job.searches[i].tried();
  if (!job.worker) return;
  job.result.trials = job.worker->counts().trials;
  job.result.failed_trials = job.worker->counts().failed_trials;
  job.result.ceilings = job.worker->ceilings();
}

std::vector<TaskSearch> plan_opat(std::vector<TuningTask> tasks, const OpatOptions& options) {
  const std::vector<const Provider*> sources = providers_of(options.session);
  TaskSearchOptions search;
  search.seed = options.seed;
  std::vector<TaskSearch> searches;
  for (TuningTask& task : tasks) {
    search.algorithm = algorithm_for(options.algorithm, task.workload);
    searches.emplace_back(std::move(task), sources, search);
  }
  return searches;
}

std::vector<TaskSearch> plan_opat(const Session& session, std::span<const Tensor> inputs, const OpatOptions& options) {
  return plan_opat(extract_tasks(session, inputs), options);
}

TuningOutcome run_opat(const std::function<Session(const SessionOptions&)>& make_session, const InputMaker& make_inputs,
                       const OpatOptions& options) {
  JobClock clock(options.budget_s, options.stop);
  Session before = make_session(options.session);
  const std::vector<Tensor> inputs = make_inputs(before.graph());
  OpatOptions settled = options;
  const std::optional<LayoutFindings> layouts = settle_layouts(before, inputs, settled, clock);
  std::optional<Session> moved;  // the default, but in these layouts
  if (layouts && !layouts->node_layouts.empty()) {
    settled.session.node_layouts = layouts->node_layouts;
    moved.emplace(make_session(settled.session));
  }
  const Session& start = moved ? *moved : before;
  OpatJob job(settled, std::move(clock), start, inputs);
  if (layouts) tell_layouts(job, *layouts, {*before.plan(inputs), options.session, job.threads});
  KernelStage stage(job, start, inputs);
  recall(job, stage.judge());
  suggest_nearest(job);
  search_and_judge(job, stage);
  count_trials(job);
  std::optional<Session> after = stage.conclude();
  if (moved) {
    if (!job.result.applied) after = std::move(moved);
    if (!job.clock.stopped()) count_layouts(job, *layouts, before, *after, inputs);
  }
  if (!job.clock.stopped()) explain_early_end(job);
  return job.finish(std::move(before), std::move(after), inputs);
}

}  // namespace attune
