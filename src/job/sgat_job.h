// What the parts of a subgraph tuning job share.
#pragma once

#include "job/job_frame.h"
#include "job/model_judge.h"
#include "job/sgat.h"

#include <set>

namespace attune {

struct SgatJob : JobFrame {
  /// Finds the subgraphs of the model. The options must outlive the job.
  SgatJob(const JobOptions& sgat_options, JobClock job_clock, const Session& session, std::span<const Tensor> inputs);

  BankKey key_of(size_t subgraph) const;
  /// Candidates that may still be tried, by the limit; those of the bank do not count.
  size_t trials_left() const;

  std::vector<Subgraph> subgraphs;
  std::set<std::pair<size_t, tune::Trial>> tried, recalled;  // in this run; by the bank
};

/// What the bank has on candidates of a subgraph inside of this very model, the newest of each.
std::map<tune::Trial, Record> recorded_candidates(const SgatJob& job, size_t subgraph);

/// Writes what was tried, found and chosen into the results of the subgraphs.
void settle_subgraphs(SgatJob& job, const ModelJudge& judge, const Choices& chosen);

}  // namespace attune
