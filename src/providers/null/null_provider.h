// The smallest provider that does something: a skeleton to copy when a new one is written. It copies, and refuses all
// else. Planning never asks it (it is in every_provider(), not in providers()); the conformance suite runs it.
#pragma once

#include "kernel/provider.h"

namespace attune {

class NullProvider final : public Provider {
 public:
  std::string_view name() const override { return "null"; }
  std::variant<Offer, Refusal> offer(const Workload& workload) const override;
  Space space(const Workload& workload) const override;
  std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
