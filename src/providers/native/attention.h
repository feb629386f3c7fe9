// attune::FusedAttention without materialised scores: each task is a block of queries of one head.
#pragma once

#include "kernel/provider.h"

namespace attune::native {

bool is_attention(const Workload& workload);
std::variant<Offer, Refusal> offer_attention(const Workload& workload);
std::unique_ptr<Kernel> build_attention(const Workload& workload, const Config& config);

}  // namespace attune::native
