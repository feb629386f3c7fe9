// Records of similar workloads: what won there is tried first here.
#pragma once

#include "job/opat_job.h"

namespace attune {

/// Further away than this, winners have little in common. From one stage of a convolutional network to the next, with
/// twice the channels and half the height and width, it is 5.5.
inline constexpr double kNear = 8;

/// How far apart two workloads of one operator are: the logarithms of the quotients of all their dims, plus one for
/// each layout and for attributes that differ. Nothing where operator, dtypes or ranks do.
std::optional<double> workload_distance(const Workload& a, const Workload& b);

/// Tells the searches which kernels won for the nearest workloads in the bank.
void suggest_nearest(OpatJob& job);

}  // namespace attune
