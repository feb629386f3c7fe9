// The generator of attune::FusedVector with a softmax or normalisation among its steps: row after row.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class VectorChainRowsGenerator final : public Generator {
 public:
  std::string_view name() const override { return "vector_chain_rows"; }
  std::optional<Refusal> find_refusal(const Workload& workload) const override;
  std::vector<Config> offered(const Workload& workload) const override;
  void declare(const Workload& workload, GeneratorSpace& space) const override;
  GeneratedKernel emit(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
