#include "job/opat_job.h"

#include "providers/providers.h"
#include "runtime/bank_advisor.h"

#include <nlohmann/json.hpp>

namespace attune {

using Json = nlohmann::ordered_json;

std::vector<const Provider*> providers_of(const SessionOptions& options) {
  std::vector<const Provider*> list;
  for (const std::string& name : options.providers) list.push_back(&require_provider(name));
  if (list.empty()) list.assign(providers().begin(), providers().end());
  return list;
}

Json trial_json(const tune::Trial& trial) { return {{"provider", trial.provider}, {"config", trial.config}}; }

OpatJob::OpatJob(const OpatOptions& opat_options, JobClock job_clock, const Session& session,
                 std::span<const Tensor> inputs)
    : OpatJob(opat_options, std::move(job_clock), plan_opat(session, inputs, opat_options)) {
  result.before_plan = session.plan(inputs);
  model = model_id(*result.before_plan);
}

OpatJob::OpatJob(const OpatOptions& opat_options, JobClock job_clock, std::vector<TaskSearch> found)
    : JobFrame(opat_options, std::move(job_clock), "opat"),
      options(opat_options),
      providers(providers_of(options.session)) {
  Json tasks = Json::array();
  for (TaskSearch& search : found) {
    TaskResult task;
    task.task = search.task();
    task.space = search.space_text();
    task.space_size = search.space_size();
    task.verdict = search.has_alternatives() ? "not tried" : "one implementation";
    tasks.push_back({{"workload", task.task.key},
                     {"nodes", task.task.nodes.size()},
                     {"run_ms", task.task.run_ms},
                     {"space", task.space}});
    run_ms += task.task.run_ms;
    is_over.push_back(!search.has_alternatives());
    result.tasks.push_back(std::move(task));
    searches.push_back(std::move(search));
  }
  begin("workloads", tasks);
}

tune::Measurer& OpatJob::measurer() {
  if (!worker) {
    tune::MeasurerOptions measuring = options.measurer;
    measuring.seed = options.seed;
    if (measuring.threads == 0) measuring.threads = threads;
    worker.emplace(measuring);
  }
  return *worker;
}

bool OpatJob::has_trials() const {
  return options.most_trials == 0 || !worker || worker->counts().trials < options.most_trials;
}

}  // namespace attune
