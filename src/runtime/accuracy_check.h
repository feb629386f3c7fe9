// Measures how far a kernel is from the reference on a workload: what decides whether the numeric mode admits it.
#pragma once

#include "kernel/provider.h"

namespace attune {

/// Largest error that high_precision admits in f32, as a share of the output's largest magnitude (spec A3).
inline constexpr double kHighPrecisionError = 1e-5;

/// The same for one image of the batch: errors do not depend on how many there are.
Workload one_image(Workload workload);

/// The same convolution with stride 1 for a small part of each map, since errors do not depend on their size either and
/// the reference takes seconds for a large one.
Workload small_maps(Workload workload);

/// Largest error of output 0 over random inputs as networks have them (activations past a relu, weights of variance
/// 2/n), as a share of its largest magnitude.
double measured_error(const Workload& workload, const Provider& provider, const Config& config, uint64_t seed = 1);

}  // namespace attune
