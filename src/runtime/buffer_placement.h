// Works out how long each buffer of a plan lives and places them all in one arena.
#pragma once

#include "runtime/plan.h"

namespace attune {

/// Sets the offsets of arena slots and workspaces and the size of the arena; lets kernels that add into an input write
/// where that input lies.
void place_buffers(Plan& plan);

}  // namespace attune
