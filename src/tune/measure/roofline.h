// The time below which no kernel can be: a measurement that is faster is a lie.
#pragma once

#include "kernel/workload.h"

#include <map>
#include <string>

namespace attune::tune {

/// Measured ceilings by id (src/device/cpu/ceilings.h), of all threads, in GF/s, GOP/s and GB/s.
using CeilingRates = std::map<std::string, double, std::less<>>;

/// The larger of the flops over the peak of the fastest arithmetic that the operands' types allow, and of the bytes
/// that have to pass over the bandwidth of the second-level cache. Convolutions with windows may save flops as
/// Winograd's do. 0 where nothing is known.
double roofline_ns(const Workload& workload, const CeilingRates& ceilings);

/// What the best kernel there could be takes, for people: the roofline, and where operands exceed all caches no less
/// than it takes to read and write each of them once at the bandwidth of copying.
double reachable_ns(const Workload& workload, const CeilingRates& ceilings);

/// Measured below this share of the roofline is implausible; ceilings are measurements too.
inline constexpr double kPlausibleShare = 0.8;

}  // namespace attune::tune
