// What the parts of an operator tuning job share: tasks with their searches, and the process that measures.
#pragma once

#include "job/job_frame.h"
#include "job/opat.h"

#include <map>

namespace attune {

struct OpatJob : JobFrame {
  /// Takes the model's workloads apart. The options must outlive the job.
  OpatJob(const OpatOptions& opat_options, JobClock job_clock, const Session& session, std::span<const Tensor> inputs);
  /// Of tasks that belong to no model.
  OpatJob(const OpatOptions& opat_options, JobClock job_clock, std::vector<TaskSearch> found);

  /// Starts the worker when it is first asked for.
  tune::Measurer& measurer();
  bool has_trials() const;  // left of the limit

  const OpatOptions& options;
  std::vector<const Provider*> providers;
  std::vector<TaskSearch> searches;  // of result.tasks, in the same order
  std::vector<bool> is_over;         // by task: nothing is left to try
  std::optional<tune::Measurer> worker;
};

/// The providers that a session asks, in order of preference.
std::vector<const Provider*> providers_of(const SessionOptions& options);

nlohmann::ordered_json trial_json(const tune::Trial& trial);

/// Puts what was tried, and how often, into the result.
void count_trials(OpatJob& job);

}  // namespace attune
