#include "job/tune_dumps.h"

#include "base/parallel.h"
#include "job/judge_alone.h"
#include "job/nearest.h"
#include "job/opat_job.h"
#include "job/recall.h"
#include "job/search_loop.h"
#include "runtime/kernel_choice.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace attune {
namespace {

constexpr double kSearchShare = 0.75;  // of the budget; finals have the rest

TuningTask task_of(const DumpedOperator& one, std::span<const Provider* const> providers) {
  TuningTask task;
  task.workload = one.workload;
  task.contents = one.contents;
  task.key = one.workload.key();
  task.op = (one.workload.domain.empty() ? "" : one.workload.domain + "::") + one.workload.op;
  task.nodes = one.nodes;
  const KernelChoice choice = choose_kernel(one.workload, providers);
  if (choice.provider == nullptr) {
    std::string reasons;
    for (const Alternative& alternative : choice.alternatives)
      reasons += fmt::format("\n  {}: {}", alternative.provider, alternative.reason);
    throw UserError("no provider has a kernel for '{}'; take it out of the dump:{}", task.key, reasons);
  }
  task.provider = choice.provider->name();
  task.config = choice.config;
  return task;
}

/// Why a task's default could not be timed; by key.
using Problems = std::map<std::string, std::string>;

Problems time_tasks(std::vector<TuningTask>& tasks, const OpatOptions& options, tune::CeilingRates& ceilings) {
  tune::MeasurerOptions measuring = options.measurer;
  measuring.seed = options.seed;
  if (measuring.threads == 0) measuring.threads = thread_count();
  tune::Measurer measurer(measuring);
  ceilings = measurer.ceilings();
  Problems problems;
  for (TuningTask& task : tasks) {
    if (options.stop()) break;
    const tune::TrialResult now =
        measurer.measure({task.workload, task.contents}, {task.provider, task.config}, {}).anchor;
    if (now.outcome == Outcome::ok)
      task.run_ms = now.time_ns() / 1e6 * static_cast<double>(task.nodes.size());
    else
      problems[task.key] = fmt::format("the default cannot be measured: {}", now.message);
  }
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const TuningTask& a, const TuningTask& b) { return a.run_ms > b.run_ms; });
  return problems;
}

std::string conclusion_of(const TuningResult& result) {
  const auto faster = std::count_if(result.tasks.begin(), result.tasks.end(),
                                    [](const TaskResult& task) { return task.winner.has_value(); });
  return fmt::format("{} of {} workloads have a faster kernel, judged alone; a model uses them with --bank", faster,
                     result.tasks.size());
}

}  // namespace

std::vector<TuningTask> dump_tasks(std::span<const OperatorDump> dumps, const SessionOptions& session) {
  const std::vector<const Provider*> providers = providers_of(session);
  std::vector<TuningTask> tasks;
  std::map<std::string, size_t> by_key;
  for (const OperatorDump& dump : dumps)
    for (const DumpedOperator& one : dump.operators) {
      const auto [found, is_new] = by_key.emplace(one.workload.key(), tasks.size());
      if (is_new) {
        tasks.push_back(task_of(one, providers));
        continue;
      }
      std::vector<std::string>& nodes = tasks[found->second].nodes;
      nodes.insert(nodes.end(), one.nodes.begin(), one.nodes.end());
    }
  return tasks;
}

TuningResult tune_operators(std::vector<TuningTask> tasks, const OpatOptions& options) {
  JobClock clock(options.budget_s, options.stop);
  OpatOptions measuring = options;
  const Problems problems = time_tasks(tasks, options, measuring.measurer.ceilings);
  OpatJob job(measuring, std::move(clock), plan_opat(std::move(tasks), measuring));
  for (TaskResult& task : job.result.tasks)
    if (const auto found = problems.find(task.task.key); found != problems.end()) {
      task.verdict = found->second;
      job.emit({{"event", "task_failed"}, {"workload", found->first}, {"reason", found->second}});
    }
  recall(job);
  suggest_nearest(job);
  const SearchEnd end = search_tasks(job, kSearchShare * options.budget_s);
  job.result.end = end == SearchEnd::limit ? JobEnd::budget_spent : JobEnd::finished;
  judge_alone(job);
  count_trials(job);
  TuningResult& result = job.result;
  if (job.worker) result.noise_floor = job.worker->noise_floor().value_or(0);
  if (job.clock.stopped()) result.end = JobEnd::interrupted;
  result.conclusion = conclusion_of(result);
  result.seconds = job.clock.seconds();
  job.emit({{"event", "end"}, {"applied", false}, {"conclusion", result.conclusion}, {"trials", result.trials}});
  return std::move(result);
}

}  // namespace attune
