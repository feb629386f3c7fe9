// Gather.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class VectorGatherGenerator final : public Generator {
 public:
  std::string_view name() const override { return "vector_gather"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
