// The gradient of a convolution with strides by its data.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class CubeStridedGradientGenerator final : public Generator {
 public:
  std::string_view name() const override { return "cube_strided_gradient"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
