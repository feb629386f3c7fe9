#include "job/opat.h"

#include "job/judge_kernels.h"
#include "job/judge_model.h"
#include "job/recall.h"
#include "job/search_loop.h"
#include "tune/search/make_searcher.h"
#include "tune/search/mode.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace attune {
namespace {

// Shares of the budget: the search stops early enough that its winners can be judged, alone and in the model.
constexpr double kSearchShare = 0.65, kFinalsShare = 0.88;

/// The search by name, or what a mode such as "RL,GA" has for the operator; empty: it is not tuned.
std::string algorithm_for(const std::string& name, const Workload& workload) {
  const auto names = tune::searcher_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  constexpr std::string_view kCubes[] = {"Conv", "ConvTranspose", "MatMul", "Gemm", "FusedConv", "FusedMatMul"};
  const bool cube = std::find(std::begin(kCubes), std::end(kCubes), workload.op) != std::end(kCubes);
  return std::string(
      tune::searcher_for(tune::parse_tune_mode(name), cube ? tune::OperatorKind::cube : tune::OperatorKind::vector));
}

}  // namespace

void count_trials(OpatJob& job) {
  for (size_t i = 0; i < job.searches.size(); ++i) job.result.tasks[i].tried = job.searches[i].tried();
  if (!job.worker) return;
  job.result.trials = job.worker->counts().trials;
  job.result.failed_trials = job.worker->counts().failed_trials;
  job.result.noise_floor = job.worker->noise_floor().value_or(0);
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

OpatOutcome run_opat(const std::function<Session(const SessionOptions&)>& make_session,
                     const std::function<std::vector<Tensor>(const Graph&)>& make_inputs, const OpatOptions& options) {
  Session before = make_session(options.session);
  const std::vector<Tensor> inputs = make_inputs(before.graph());
  OpatJob job(options, before, inputs);
  TuningResult& result = job.result;
  result.before_plan = before.plan(inputs);
  result.before_step_ms = time_steps(before, inputs);
  recall(job);
  search_tasks(job, kSearchShare);
  judge_kernels(job, kFinalsShare);
  count_trials(job);
  std::optional<Session> after;
  if (const auto advisor = winners_advice(result)) {
    SessionOptions tuned = options.session;
    tuned.advisor = advisor;
    after = make_session(tuned);
    judge_model(job, before, *after, inputs);
  } else {
    result.conclusion = "the default plan is kept: no kernel was found faster beyond noise";
  }
  if (job.clock.stopped()) result.end = JobEnd::interrupted;
  Session& chosen = result.applied ? *after : before;
  result.after_plan = chosen.plan(inputs);
  result.after_step_ms = time_steps(chosen, inputs);
  result.seconds = job.clock.seconds();
  nlohmann::ordered_json event{
      {"event", "end"}, {"applied", result.applied}, {"conclusion", result.conclusion}, {"trials", result.trials}};
  if (result.comparison) event["ratio"] = result.comparison->ratio;
  job.emit(std::move(event));
  return {std::move(result), std::move(chosen)};
}

}  // namespace attune
