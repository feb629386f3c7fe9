// Kernels inside of the model: the best candidates of the searches are judged there.
#pragma once

#include "job/model_stage.h"
#include "job/opat_job.h"
#include "job/proposals.h"

namespace attune {

class KernelStage final : public ModelStage {
 public:
  /// All must outlive the stage.
  KernelStage(OpatJob& job, const Session& before, std::span<const Tensor> inputs);

  Choices proposals() const override { return propose(job_, judge(), unfit()); }

 private:
  std::string name_of(size_t task) const override { return job_.searches[task].task().key; }
  std::string op_of(size_t task) const override { return job_.searches[task].task().op; }
  size_t calls_of(size_t task) const override { return job_.searches[task].task().nodes.size(); }
  Record record_of(size_t task, const tune::Trial& trial, ModelEvidence evidence) const override;
  void settle(const Choices& chosen) override;
  std::string_view what() const override { return "kernels"; }

  OpatJob& job_;
};

}  // namespace attune
