// Joins transposes that meet, drops those that undo each other, and lets them through what works on any order of axes
// where that makes them meet.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int cancel_transposes(Graph& graph);

}  // namespace attune::rewrite
