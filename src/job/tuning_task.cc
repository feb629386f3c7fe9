#include "job/tuning_task.h"

#include "base/statistics.h"
#include "job/step_contents.h"

#include <algorithm>
#include <chrono>

namespace attune {
namespace {

std::string op_name(const Workload& workload) {
  return workload.domain.empty() ? workload.op : workload.domain + "::" + workload.op;
}

}  // namespace

std::vector<double> median_steps(const std::vector<std::vector<double>>& runs) {
  std::vector<double> medians, samples;
  for (size_t step = 0; !runs.empty() && step < runs.front().size(); ++step) {
    samples.clear();
    for (const auto& run : runs)
      if (step < run.size()) samples.push_back(run[step]);  // the data may decide how many there are
    medians.push_back(median_of(samples));
  }
  return medians;
}

std::vector<double> time_steps(const Session& session, std::span<const Tensor> inputs) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWarmUp = 3, kMostRuns = 15, kFewestRuns = 5;
  constexpr std::chrono::milliseconds kLongest{1500};  // for large models, which noise hurts less
  for (int i = 0; i < kWarmUp; ++i) session.run(inputs);
  std::vector<std::vector<double>> runs;
  const auto begin = Clock::now();
  for (int i = 0; i < kMostRuns && (i < kFewestRuns || Clock::now() - begin < kLongest); ++i) {
    std::vector<double> milliseconds;
    session.run(inputs, {.step_ms = &milliseconds});
    runs.push_back(std::move(milliseconds));
  }
  return median_steps(runs);
}

std::vector<TuningTask> extract_tasks(const Session& session, std::span<const Tensor> inputs) {
  return extract_tasks(*session.plan(inputs), time_steps(session, inputs));
}

std::vector<TuningTask> extract_tasks(const Plan& plan, std::span<const double> step_ms) {
  std::vector<TuningTask> tasks;
  std::map<std::string, size_t> by_key;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (!step.kernel) continue;
    const std::string key = step.workload.key();
    const auto [found, is_new] = by_key.emplace(key, tasks.size());
    if (is_new) {
      TuningTask task;
      task.workload = step.workload;
      task.contents = step_contents(plan, step);
      task.key = key;
      task.op = op_name(step.workload);
      task.provider = step.provider;
      task.config = step.config;
      tasks.push_back(std::move(task));
    }
    TuningTask& task = tasks[found->second];
    task.nodes.push_back(step.label);
    task.run_ms += step_ms[i];
  }
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const TuningTask& a, const TuningTask& b) { return a.run_ms > b.run_ms; });
  return tasks;
}

}  // namespace attune
