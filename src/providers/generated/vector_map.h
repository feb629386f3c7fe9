// The generator of elementwise kernels: one output, any number of inputs that broadcast, any rank.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class VectorMapGenerator final : public Generator {
 public:
  std::string_view name() const override { return "vector_map"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
