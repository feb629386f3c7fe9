#include "runtime/kernel_choice.h"

namespace attune {

KernelChoice choose_kernel(const Workload& workload, std::span<const Provider* const> providers) {
  KernelChoice choice;
  for (const Provider* provider : providers) {
    const auto answer = provider->offer(workload);
    Alternative alternative;
    alternative.provider = std::string(provider->name());
    if (const auto* refusal = std::get_if<Refusal>(&answer)) {
      alternative.reason = refusal->reason;
    } else {
      alternative.configs = std::get<Offer>(answer).configs;
      if (choice.provider == nullptr && !alternative.configs.empty()) {
        choice.provider = provider;
        choice.config = alternative.configs.front();
        choice.reason = fmt::format("default of {}", provider->name());
      }
    }
    choice.alternatives.push_back(std::move(alternative));
  }
  return choice;
}

}  // namespace attune
