// attune::SqueezeExcite as one kernel: each thread sums up its part of the map, all compute the gates, and each
// multiplies its part while its own cache holds it.
#pragma once

#include "kernel/provider.h"

namespace attune::native {

bool is_squeeze_excite(const Workload& workload);
std::variant<Offer, Refusal> offer_squeeze_excite(const Workload& workload);
std::unique_ptr<Kernel> build_squeeze_excite(const Workload& workload);

}  // namespace attune::native
