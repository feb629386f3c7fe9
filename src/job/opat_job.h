// What the parts of a tuning job share: options, clock, tasks with their searches, the process that measures, and the
// result as it grows.
#pragma once

#include "job/job_clock.h"
#include "job/opat.h"
#include "job/trial_record.h"

#include <map>

namespace attune {

struct OpatJob {
  /// Takes the model's workloads apart. The options must outlive the job. The clock runs already: opening the model is
  /// part of the budget.
  OpatJob(const OpatOptions& opat_options, JobClock job_clock, const Session& session, std::span<const Tensor> inputs);
  /// Of tasks that belong to no model.
  OpatJob(const OpatOptions& opat_options, JobClock job_clock, std::vector<TaskSearch> found);

  /// Starts the worker when it is first asked for.
  tune::Measurer& measurer();
  /// Saved before anything else happens: whatever ends this process, the record is not lost.
  void keep(const Record& record);
  /// Tells whoever follows the job, with the time.
  void emit(nlohmann::ordered_json event) const;
  bool has_trials() const;  // left of the limit

  const OpatOptions& options;
  JobClock clock;
  int threads;
  RecordSource source;
  std::vector<const Provider*> providers;
  std::vector<TaskSearch> searches;  // of result.tasks, in the same order
  std::vector<bool> is_over;         // by task: nothing is left to try
  double run_ms = 0;                 // of all tasks
  std::string model;                 // model_id() of the default plan
  TuningResult result;
  std::optional<tune::Measurer> worker;
};

/// The providers that a session asks, in order of preference.
std::vector<const Provider*> providers_of(const SessionOptions& options);

nlohmann::ordered_json trial_json(const tune::Trial& trial);

/// Puts what was tried, and how often, into the result.
void count_trials(OpatJob& job);

}  // namespace attune
