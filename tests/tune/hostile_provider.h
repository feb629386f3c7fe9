// A provider of kernels that break every rule there is, for tests of what contains them.
#pragma once

#include "kernel/provider.h"

#include <span>
#include <string_view>

namespace attune::testing {

/// Kernels of Relu on f32. The config says what they do: {{"kind", "segfault"}}; kind "good" is right.
class HostileProvider final : public Provider {
 public:
  std::string_view name() const override { return "hostile"; }
  std::variant<Offer, Refusal> offer(const Workload& workload) const override;
  std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) const override;
};

/// Everything that it offers but "good".
std::span<const std::string_view> hostile_kinds();

/// The product's providers and this one.
std::span<const Provider* const> providers_with_hostile();

}  // namespace attune::testing
