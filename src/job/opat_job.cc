#include "job/opat_job.h"

#include "base/parallel.h"
#include "providers/providers.h"
#include "runtime/bank_advisor.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cmath>

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
    : options(opat_options),
      clock(std::move(job_clock)),
      threads(thread_count()),
      providers(providers_of(options.session)) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  source.measured_at = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  source.session = fmt::format("opat-{}-{}", source.measured_at, getpid());
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
  result.convergence.push_back({clock.seconds(), run_ms});
  emit({{"event", "begin"}, {"budget_s", options.budget_s}, {"run_ms", run_ms}, {"tasks", tasks}});
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

void OpatJob::keep(const Record& record) {
  if (options.bank != nullptr) options.bank->add(record);
  result.records.push_back(record);
}

void OpatJob::emit(Json event) const {
  event["t"] = std::round(clock.seconds() * 1000) / 1000;
  options.on_event(event);
}

bool OpatJob::has_trials() const {
  return options.most_trials == 0 || !worker || worker->counts().trials < options.most_trials;
}

}  // namespace attune
