// Moves of channels on maps in channels-last order: shuffling them, and splitting them off. Libraries do these in plain
// order alone, which costs a conversion there and back.
#pragma once

#include "kernel/provider.h"

namespace attune::native {

/// attune::ChannelShuffle, and Split along the channels.
bool moves_channels(const Workload& workload);
std::variant<Offer, Refusal> offer_channel_moves(const Workload& workload);
std::unique_ptr<Kernel> build_channel_moves(const Workload& workload);

}  // namespace attune::native
