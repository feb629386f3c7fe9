// attune's own compiled kernels, for what libraries do poorly and no code has to be generated for: recurrent layers,
// moves of channels.
#pragma once

#include "kernel/provider.h"

namespace attune {

class NativeProvider final : public Provider {
 public:
  std::string_view name() const override { return "native"; }
  std::string environment() const override;
  std::variant<Offer, Refusal> offer(const Workload& workload) const override;
  std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
