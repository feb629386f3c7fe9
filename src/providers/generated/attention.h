// The generator of attention kernels: the loops of the native kernel (providers/native/attention_*.h are its text too)
// with their tiles and blocks open to choice, and with every size a constant.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class AttentionGenerator final : public Generator {
 public:
  std::string_view name() const override { return "attention"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
