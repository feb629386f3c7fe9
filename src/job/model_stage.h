// The part of a job that runs the model: proposes the best candidates of the searches to the judge, keeps the verdicts
// and ends with the session to use.
#pragma once

#include "job/opat_job.h"
#include "job/proposals.h"
#include "job/session_runner.h"

#include <set>

namespace attune {

class ModelStage {
 public:
  /// All must outlive the stage.
  ModelStage(OpatJob& job, const Session& before, std::span<const Tensor> inputs);

  ModelJudge& judge() { return judge_; }
  /// Candidates that nobody judged in this model, the best of each task.
  Choices proposals() const { return propose(job_, judge_, unfit_); }
  /// Judges all of them together, in about this time and what it takes to plan the model anew.
  void judge_proposals(double seconds);
  /// What one more round of this length and the end of the job will take, by how long the last one took.
  double needed_s(double round_s) const;
  /// Compares the model as it would be used with its default; the former where it is faster beyond noise.
  std::optional<Session> conclude();

 private:
  void judge_together(const Choices& proposals, double seconds);
  std::string reason(size_t task, const tune::Trial& trial) const;
  void on_verdict(size_t task, const tune::Trial& trial, const ModelVerdict& verdict);
  void show_verdict(size_t task, const tune::Trial& trial, const ModelVerdict& verdict);
  void keep_verdict(size_t task, const tune::Trial& trial, InModel decision);
  void show_round(const SessionComparison* measured);
  SessionRunnerOptions runner_options() const;
  ModelJudgeOptions judge_options();

  OpatJob& job_;
  SessionRunner runner_;
  ModelJudge judge_;
  std::map<std::pair<size_t, tune::Trial>, tune::Verdict> shown_;  // the last of each
  std::set<std::pair<size_t, tune::Trial>> kept_;                  // whose verdict is in the bank
  std::set<std::pair<size_t, tune::Trial>> unfit_;                 // with which the model computes something else
};

}  // namespace attune
