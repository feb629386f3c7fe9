// Where generated kernels are preferred to the library's without having been measured on this machine.
#pragma once

#include "kernel/provider.h"

namespace attune {

/// Convolutions in channels-last order of the kinds where the generated kernel was never slower and mostly faster
/// (docs/performance/kernels.md): depthwise ones, 1x1 with channels that fill no vector, and, on AMX tiles, 1x1 with
/// up to 256 channels or a residual. `config` is the generated provider's default.
bool generated_pays(const Workload& workload, const Config& config);

}  // namespace attune
