// Fusion inside of the model: which candidates of the subgraphs are judged next, and what is kept of the verdicts.
#pragma once

#include "job/model_stage.h"
#include "job/sgat_job.h"

namespace attune {

class PartitionStage final : public ModelStage {
 public:
  /// The job must outlive the stage. The runner takes choices by the positions of the job's subgraphs.
  PartitionStage(SgatJob& job, std::unique_ptr<PairRunner> runner);

  /// At most one candidate of each subgraph, of subgraphs that have no node in common.
  Choices proposals() const override;
  /// Without those that do not fit the model and those that share nodes with one before them.
  Choices compatible(const Choices& choices) const;
  bool is_judged(size_t subgraph, const tune::Trial& trial) const;
  /// Runs the model with exactly these and tells how long it takes as a share of the default; nothing when its outputs
  /// differ or nothing was measured.
  std::optional<double> try_partition(const Choices& choices, double seconds);
  /// Judges the proposals, as many as the limit of trials allows.
  void try_proposals(double seconds);
  /// What the bank knows of candidates in this very model is not asked again.
  void recall();

 private:
  std::string name_of(size_t task) const override { return job_.subgraphs[task].key; }
  std::string op_of(size_t task) const override { return job_.subgraphs[task].whole; }
  size_t calls_of(size_t task) const override { return job_.subgraphs[task].places.size(); }
  Record record_of(size_t task, const tune::Trial& trial, ModelEvidence evidence) const override;
  void settle(const Choices& chosen) override { settle_subgraphs(job_, judge(), chosen); }
  std::string_view what() const override { return "subgraphs"; }
  void on_unfit(size_t task, const tune::Trial& trial, const std::string& problem) override;

  void count(const Choices& choices);

  SgatJob& job_;
};

}  // namespace attune
