// Splits the channels of a convolution with the channels last in memory: heads of detectors split them into boxes and
// numbers of a box and move the numbers last, which then moves runs of elements instead of single ones.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int move_channel_runs(Graph& graph);

}  // namespace attune::rewrite
