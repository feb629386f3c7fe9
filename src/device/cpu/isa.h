// The instruction sets that attune's kernels and libraries choose between.
#pragma once

#include "device/cpu/cpu_info.h"

#include <vector>

namespace attune {

/// Asks CPUID, the register states of the operating system, and for AMX a child process that tries it.
std::vector<IsaState> detect_isa();

/// CPUID advertises AMX but not its palette.
bool amx_palette_hidden();

}  // namespace attune
