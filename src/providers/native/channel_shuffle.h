// attune::ChannelShuffle on maps in channels-last order, which libraries do in plain order alone; that would cost a
// conversion there and back.
#pragma once

#include "kernel/provider.h"

namespace attune::native {

bool is_channel_shuffle(const Workload& workload);
std::variant<Offer, Refusal> offer_channel_shuffle(const Workload& workload);
std::unique_ptr<Kernel> build_channel_shuffle(const Workload& workload);

}  // namespace attune::native
