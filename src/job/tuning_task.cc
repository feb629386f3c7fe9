#include "job/tuning_task.h"

#include "base/statistics.h"
#include "job/step_contents.h"

#include <algorithm>

namespace attune {
namespace {

std::string op_name(const Workload& workload) {
  return workload.domain.empty() ? workload.op : workload.domain + "::" + workload.op;
}

}  // namespace

std::vector<double> time_steps(const Session& session, std::span<const Tensor> inputs) {
  constexpr int kWarmUp = 3, kRuns = 15;
  std::vector<std::vector<double>> samples;
  for (int i = 0; i < kWarmUp + kRuns; ++i) {
    std::vector<double> milliseconds;
    session.run(inputs, {.step_ms = &milliseconds});
    samples.resize(milliseconds.size());
    for (size_t s = 0; s < milliseconds.size() && i >= kWarmUp; ++s) samples[s].push_back(milliseconds[s]);
  }
  std::vector<double> medians;
  for (const auto& of_step : samples) medians.push_back(summarize_samples(of_step).median);
  return medians;
}

std::vector<TuningTask> extract_tasks(const Session& session, std::span<const Tensor> inputs) {
  const auto plan = session.plan(inputs);
  const std::vector<double> times = time_steps(session, inputs);
  std::vector<TuningTask> tasks;
  std::map<std::string, size_t> by_key;
  for (size_t i = 0; i < plan->steps.size(); ++i) {
    const Step& step = plan->steps[i];
    if (!step.kernel) continue;
    const std::string key = step.workload.key();
    const auto [found, is_new] = by_key.emplace(key, tasks.size());
    if (is_new) {
      TuningTask task;
      task.workload = step.workload;
      task.contents = step_contents(*plan, step);
      task.key = key;
      task.op = op_name(step.workload);
      task.provider = step.provider;
      task.config = step.config;
      tasks.push_back(std::move(task));
    }
    TuningTask& task = tasks[found->second];
    task.nodes.push_back(step.label);
    task.run_ms += times.at(i);
  }
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const TuningTask& a, const TuningTask& b) { return a.run_ms > b.run_ms; });
  return tasks;
}

}  // namespace attune
