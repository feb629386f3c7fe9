// Where generated kernels are preferred to the library's without having been measured on this machine.
#pragma once

#include "kernel/provider.h"

namespace attune {

/// Convolutions in bf16 and channels-last order of the kinds where the generated kernel was the faster one inside of
/// models (docs/performance/kernels.md): depthwise ones, and, on AMX tiles, 1x1 with channels that fill no vector or
/// with more channels out than in. In f32 the default configurations tie with the library. `config` is the generated
/// provider's default.
bool generated_pays(const Workload& workload, const Config& config);

}  // namespace attune
