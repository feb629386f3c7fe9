// What a worker does on request: one subject at a time, the kernels built for it, and the checks around them.
#pragma once

#include "kernel/provider.h"
#include "tune/measure/timing.h"

#include <map>
#include <span>

namespace attune::tune {

class Workbench {
 public:
  /// `entering` is told whose kernel runs next, so that whoever watches knows it when the process dies.
  Workbench(std::span<const Provider* const> providers, Entering entering);

  Reply prepare(const PrepareRequest& request);
  Reply ceilings();
  Reply set_subject(const SubjectRequest& request);
  /// Builds kernels on all threads, for build() to take; those that do not build are left to it.
  Reply build_ahead(const BuildAheadRequest& request);
  Reply build(const InstanceId& id);
  Reply verify(const InstanceId& id);
  Reply pairs(const PairsRequest& request);
  Reply rounds(const RoundsRequest& request);

 private:
  /// A kernel, and how long it took to build.
  struct Built {
    std::unique_ptr<Kernel> kernel;
    double ms = 0;
  };

  const Provider* find_provider(const std::string& name) const;
  Built take_built(const Provider& provider, const InstanceId& id);
  KernelInstance& instance(const InstanceId& id);
  Reply after_timing(std::span<KernelInstance* const> entrants, Reply reply);

  std::vector<const Provider*> providers_;
  Entering entering_;
  std::unique_ptr<Subject> subject_;
  std::map<InstanceId, Built> ahead_;
  std::map<InstanceId, std::unique_ptr<KernelInstance>> instances_;
  std::vector<InstanceId> age_;  // least recently used first
};

}  // namespace attune::tune
