// What tuning jobs of every kind share: the clock, who measures, what is kept, and the result as it grows.
#pragma once

#include "job/job_clock.h"
#include "job/job_options.h"
#include "job/trial_record.h"
#include "job/tuning_result.h"

namespace attune {

struct JobFrame {
  /// `kind` names the job in records: "opat". The options must outlive the job. The clock runs already: opening the
  /// model is part of the budget.
  JobFrame(const JobOptions& job_options, JobClock job_clock, std::string_view kind);

  /// Saved before anything else happens: whatever ends this process, the record is not lost.
  void keep(const Record& record);
  /// Tells whoever follows the job, with the time.
  void emit(nlohmann::ordered_json event) const;
  /// What is tuned, `what` being "workloads" or "subgraphs".
  void begin(std::string_view what, const nlohmann::ordered_json& tasks);
  /// The plan to use and the times of both; the end is told. `after` is there where the result is applied.
  TuningOutcome finish(Session before, std::optional<Session> after, std::span<const Tensor> inputs);

  const JobOptions& common;
  JobClock clock;
  int threads;
  RecordSource source;
  double run_ms = 0;  // of all tasks
  std::string model;  // model_id() of the default plan
  TuningResult result;
};

}  // namespace attune
