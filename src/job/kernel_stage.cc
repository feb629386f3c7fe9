#include "job/kernel_stage.h"

#include "job/session_runner.h"
#include "job/settle_tasks.h"
#include "providers/providers.h"

namespace attune {
namespace {

std::vector<TuningTask> tasks_of(const OpatJob& job) {
  std::vector<TuningTask> tasks;
  for (const TaskSearch& search : job.searches) tasks.push_back(search.task());
  return tasks;
}

const TriedConfig* find_tried(const TaskSearch& search, const tune::Trial& trial) {
  for (const TriedConfig& tried : search.tried())
    if (tried.trial == trial) return &tried;
  return nullptr;
}

std::unique_ptr<PairRunner> make_runner(const OpatJob& job, const ModelStage& stage, const Session& before,
                                        std::span<const Tensor> inputs) {
  SessionRunnerOptions options{runner_options(job.options), {}};
  options.reason = [&](size_t task, const tune::Trial& trial) {
    return reason_text(stage.judge().find(task, trial), "the default of " + job.searches[task].task().provider);
  };
  return std::make_unique<SessionRunner>(before, inputs, tasks_of(job), std::move(options));
}

}  // namespace

KernelStage::KernelStage(OpatJob& job, const Session& before, std::span<const Tensor> inputs)
    : ModelStage(job, make_runner(job, *this, before, inputs)), job_(job) {}

Record KernelStage::record_of(size_t task, const tune::Trial& trial, ModelEvidence evidence) const {
  const TaskSearch& search = job_.searches[task];
  evidence.max_error = find_tried(search, trial)->max_error;
  return model_record(search.task().workload, job_.threads, trial, evidence, require_provider(trial.provider),
                      job_.source);
}

void KernelStage::settle(const Choices& chosen) { settle_tasks(job_, judge(), chosen); }

}  // namespace attune
