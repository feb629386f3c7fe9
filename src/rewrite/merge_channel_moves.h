// Makes one move of channels out of several.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

/// A Concat along the channels before a ChannelShuffle and a Split along them after it become part of the shuffle,
/// where nothing else reads what is between: each pixel is then read and written once instead of three times.
Places merge_channel_moves(Graph& graph, const LeftAlone& left_alone);

}  // namespace attune::rewrite
