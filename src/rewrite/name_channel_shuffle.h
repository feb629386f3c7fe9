// Recognises a channel shuffle, which exporters spell as reshape, transpose and reshape.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

/// As one node it has kernels in channels-last order; spelled out it forces maps into plain order and back.
int name_channel_shuffle(Graph& graph);

}  // namespace attune::rewrite
