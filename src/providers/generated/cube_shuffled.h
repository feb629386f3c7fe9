// Convolutions that write their channels in turn with those of another map.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class CubeShuffledGenerator final : public Generator {
 public:
  std::string_view name() const override { return "cube_shuffled"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
