// oneDNN as a provider: every implementation that the library lists for a workload, in the workload's layouts.
#pragma once

#include "kernel/provider.h"

namespace attune {

class OnednnProvider final : public Provider {
 public:
  std::string_view name() const override { return "onednn"; }
  std::string environment() const override;
  std::string note() const override;
  std::variant<Offer, Refusal> offer(const Workload& workload) const override;
  std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
