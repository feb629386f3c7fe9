// LSTM and GRU as one kernel for a layer: weights packed so that a vector holds one gate of neighbouring units, the
// cell's functions applied while the gates are still in registers, directions on threads of their own.
#pragma once

#include "kernel/provider.h"

namespace attune::native {

std::variant<Offer, Refusal> offer_recurrent(const Workload& workload);
std::unique_ptr<Kernel> build_recurrent(const Workload& workload, const Config& config);

}  // namespace attune::native
