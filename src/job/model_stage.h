// The part of a job that runs the model: proposes candidates to the judge, keeps the verdicts and ends with the session
// to use.
#pragma once

#include "job/job_frame.h"
#include "job/pair_runner.h"

#include <set>

namespace attune {

/// Candidates that are right alone, but with which the model computes something else.
using Unfit = std::set<std::pair<size_t, tune::Trial>>;

class ModelStage {
 public:
  virtual ~ModelStage() = default;
  ModelStage(const ModelStage&) = delete;
  ModelStage& operator=(const ModelStage&) = delete;

  ModelJudge& judge() { return judge_; }
  const ModelJudge& judge() const { return judge_; }
  /// Candidates that nobody judged in this model, at most one of each task.
  virtual Choices proposals() const = 0;
  /// Judges all of them together, in about this time and what it takes to plan the model anew.
  void judge_proposals(double seconds);
  /// More rounds for winners and for those that may be better; false when there are none.
  bool tell_rivals_apart(double seconds);
  /// What one more round of this length and the end of the job will take, by how long the last one took.
  double needed_s(double round_s) const;
  /// Compares the model as it would be used with its default; the former where it is faster beyond noise.
  std::optional<Session> conclude();

 protected:
  /// The job must outlive the stage.
  ModelStage(JobFrame& job, std::unique_ptr<PairRunner> runner);

  /// The workload or subgraph as people know it, and the operator.
  virtual std::string name_of(size_t task) const = 0;
  virtual std::string op_of(size_t task) const = 0;
  virtual size_t calls_of(size_t task) const = 0;  // in one run
  virtual Record record_of(size_t task, const tune::Trial& trial, ModelEvidence evidence) const = 0;
  /// Writes what came of it into the result; `chosen` is what the model uses.
  virtual void settle(const Choices& chosen) = 0;
  virtual std::string_view what() const = 0;  // "kernels"
  /// A candidate with which, all else by default, the model computes something else.
  virtual void on_unfit(size_t, const tune::Trial&, const std::string& /*problem*/) {}

  const Unfit& unfit() const { return unfit_; }
  void drop_unfit(const Choices& choice, const std::string& problem);  // of one task
  void recall_unfit(size_t task, const tune::Trial& trial) { unfit_.insert({task, trial}); }
  /// What was found of a candidate is told, and kept once nothing will change it.
  void judge_together(const Choices& proposals, double seconds);

 private:
  void on_verdict(size_t task, const tune::Trial& trial, const ModelVerdict& verdict);
  void show_verdict(size_t task, const tune::Trial& trial, const ModelVerdict& verdict);
  void keep_verdict(size_t task, const tune::Trial& trial, InModel decision);
  void show_round(const SessionComparison* measured);
  void look_back();
  void state_conclusion(const ModelConclusion& conclusion);
  ModelJudgeOptions judge_options();

  JobFrame& job_;
  std::unique_ptr<PairRunner> runner_;
  ModelJudge judge_;
  std::map<std::pair<size_t, tune::Trial>, tune::Verdict> shown_;  // the last of each
  std::set<std::pair<size_t, tune::Trial>> kept_;                  // whose verdict is in the bank
  Unfit unfit_;
  struct Look {
    double seconds;
    Choices accepted;
  };
  std::vector<Look> looks_;  // after each round
};

/// What was measured of a candidate in the model, for a plan: "measured 1.31x (1.28 to 1.34) as fast as …".
std::string reason_text(const ModelVerdict* verdict, std::string_view than);

}  // namespace attune
