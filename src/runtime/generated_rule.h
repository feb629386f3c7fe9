// Where generated kernels are preferred to the library's without having been measured on this machine.
#pragma once

#include "kernel/provider.h"
#include "runtime/input_shapes.h"

namespace attune {

/// Workloads of the kinds where the generated kernel was the faster one inside of models
/// (docs/performance/kernels.md): products whose weights stream from memory, since the kernel fetches them
/// ahead; attention in bf16 that multiplies pairs or on tiles; LSTM and GRU layers in f32, which gain too little to be
/// compiled for every new shape; convolutions in bf16 and channels-last order, depthwise ones, and, on AMX tiles, 1x1
/// with channels that fill no vector or with more channels out than in, but not where a residual is added that no cache
/// holds; where shapes are fixed those that end in an exponential or the like, on tiles with any filter, on vectors 1x1
/// with not too many channels, and first layers in bands. Convolutions in f32 tie with the library. `config` is the
/// generated provider's default.
bool generated_pays(const Workload& workload, const Config& config, InputShapes shapes);

/// Chains of vector operators and convolutions that shuffle, which nothing but the reference has beside: taken apart
/// where nothing is compiled.
bool only_generated_serves(const Workload& workload);

}  // namespace attune
