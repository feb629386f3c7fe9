#include "kernel/provider.h"

#include "space/space.h"

namespace attune {
namespace {

Offer require_offer(const Provider& provider, const Workload& workload) {
  auto answer = provider.offer(workload);
  if (const auto* refusal = std::get_if<Refusal>(&answer))
    throw UserError("provider {} refuses {}: {}", provider.name(), workload.key(), refusal->reason);
  return std::get<Offer>(std::move(answer));
}

}  // namespace

Space Provider::space(const Workload& workload) const { return Space::of_list(require_offer(*this, workload).configs); }

Config Provider::default_config(const Workload& workload) const {
  return require_offer(*this, workload).configs.front();
}

std::unique_ptr<Kernel> Provider::build_from_artifact(const Workload& workload, const Config& config,
                                                      std::span<const std::byte> artifact) const {
  if (!artifact.empty()) throw UserError("provider '{}' keeps nothing of its kernels in plans", name());
  return build(workload, config);
}

}  // namespace attune
