// Split: copies of the parts of rows, all parts of a row while it is in the cache.
#pragma once

#include "kernel/provider.h"

namespace attune::native {

bool is_split(const Workload& workload);
std::variant<Offer, Refusal> offer_split(const Workload& workload);
std::unique_ptr<Kernel> build_split(const Workload& workload);

}  // namespace attune::native
