// Kernels that attune writes itself: text from generators, compiled for this machine.
#pragma once

#include "kernel/provider.h"

namespace attune {

class GeneratedProvider final : public Provider {
 public:
  std::string_view name() const override { return "generated"; }
  std::string environment() const override;
  std::variant<Offer, Refusal> offer(const Workload& workload) const override;
  std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
