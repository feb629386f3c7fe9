// Checks everything that a provider offers for a workload.
#pragma once

#include "kernel/provider.h"
#include "tune/measure/example.h"

namespace attune::testing {

/// What a provider said to one workload; `failures` name provider, config, workload and seed.
struct ProviderCheck {
  int configs = 0;
  std::string refusal;  // empty: it offered
  std::vector<std::string> failures;
};

/// Offers, builds and runs every config on every example. Besides what check_kernel does: a refusal
/// has a reason, an offer has configs without repetition, and a config that was not offered is a UserError.
ProviderCheck check_provider(const Provider& provider, const Workload& workload,
                             const std::vector<tune::Example>& examples);

}  // namespace attune::testing
