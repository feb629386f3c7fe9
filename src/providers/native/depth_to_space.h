// DepthToSpace on maps in channels-last order, where each pixel becomes a square of them.
#pragma once

#include "kernel/provider.h"

namespace attune::native {

bool is_depth_to_space(const Workload& workload);
std::variant<Offer, Refusal> offer_depth_to_space(const Workload& workload);
std::unique_ptr<Kernel> build_depth_to_space(const Workload& workload);

}  // namespace attune::native
