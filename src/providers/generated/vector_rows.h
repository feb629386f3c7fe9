// The generator of kernels that look at a whole row: softmax along any axis, normalisations over the last axes.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class VectorRowsGenerator final : public Generator {
 public:
  std::string_view name() const override { return "vector_rows"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
