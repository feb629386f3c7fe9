// How many cores this process may use.
#pragma once

#include <optional>

namespace attune {

/// Cores of the affinity mask.
int affinity_cores();
/// Cores that the quotas of the process's cgroups pay for, a fraction when the quota is one; nothing without a quota.
std::optional<double> quota_cores();
/// The smaller of both, at least one; a started core counts as a whole.
int usable_cores();

}  // namespace attune
