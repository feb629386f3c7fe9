#include "job/job_frame.h"

#include "base/parallel.h"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cmath>

namespace attune {

using Json = nlohmann::ordered_json;

JobFrame::JobFrame(const JobOptions& job_options, JobClock job_clock, std::string_view kind)
    : common(job_options), clock(std::move(job_clock)), threads(thread_count()) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  source.measured_at = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  source.session = fmt::format("{}-{}-{}", kind, source.measured_at, getpid());
}

void JobFrame::keep(const Record& record) {
  if (common.bank != nullptr) common.bank->add(record);
  result.records.push_back(record);
}

void JobFrame::emit(Json event) const {
  event["t"] = std::round(clock.seconds() * 1000) / 1000;
  common.on_event(event);
}

void JobFrame::begin(std::string_view what, const Json& tasks) {
  result.convergence.push_back({clock.seconds(), run_ms});
  emit({{"event", "begin"}, {"what", what}, {"budget_s", common.budget_s}, {"run_ms", run_ms}, {"tasks", tasks}});
}

TuningOutcome JobFrame::finish(Session before, std::optional<Session> after, std::span<const Tensor> inputs) {
  if (clock.stopped()) result.end = JobEnd::interrupted;
  result.before_step_ms =
      result.comparison ? median_steps(result.comparison->before_step_ms) : time_steps(before, inputs);
  result.after_step_ms = result.applied ? median_steps(result.comparison->after_step_ms) : result.before_step_ms;
  Session& chosen = result.applied ? *after : before;
  result.after_plan = chosen.plan(inputs);
  result.seconds = clock.seconds();
  if (!result.applied) result.convergence.push_back({result.seconds, run_ms});
  Json event{
      {"event", "end"}, {"applied", result.applied}, {"conclusion", result.conclusion}, {"trials", result.trials}};
  if (result.comparison) event["ratio"] = result.comparison->ratio;
  emit(std::move(event));
  return {std::move(result), std::move(chosen)};
}

}  // namespace attune
