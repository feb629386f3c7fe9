// The reference as a provider: every operator with concrete shapes, in plain layout, by its own reference kernel; and
// conversions between layouts.
#pragma once

#include "kernel/provider.h"

namespace attune {

class ReferenceProvider final : public Provider {
 public:
  std::string_view name() const override { return "reference"; }
  std::variant<Offer, Refusal> offer(const Workload& workload) const override;
  std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) const override;
};

}  // namespace attune
