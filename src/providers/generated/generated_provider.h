// Kernels that attune writes itself: text from generators, compiled for this machine.
#pragma once

#include "providers/generated/generator.h"

namespace attune {

class GeneratedProvider final : public Provider {
 public:
  std::string_view name() const override { return "generated"; }
  std::string environment() const override;
  std::string plan_environment() const override;
  std::string note() const override;
  std::variant<Offer, Refusal> offer(const Workload& workload) const override;
  Space space(const Workload& workload) const override;
  std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) const override;

  std::unique_ptr<Kernel> build_from_artifact(const Workload& workload, const Config& config,
                                              std::span<const std::byte> artifact) const override;

  /// The text and what belongs to it, without compiling it; needs no compiler. Throws UserError as build() does.
  GeneratedKernel generate(const Workload& workload, const Config& config) const;
};

}  // namespace attune
