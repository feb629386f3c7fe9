// The generator of LSTM and GRU layers: one kernel for all steps, with packed weights that stay in the caches, both
// directions at a time.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class RecurrentGenerator final : public Generator {
 public:
  std::string_view name() const override { return "recurrent"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
