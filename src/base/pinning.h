// Keeps the threads of the pool on cores of their own.
#pragma once

#include <vector>

namespace attune {

/// Pins each worker of the calling thread's pool to one core; the calling thread keeps the affinity that it has.
/// Workers of several callers spread over the usable cores: each takes the one with the fewest. A pin ends with its
/// thread. Does nothing where a cgroup grants fewer cores than the affinity mask names, since no core is this process's
/// own there. Cheap when it is done already.
void pin_pool_workers();

/// How many workers are pinned to each core of the affinity mask, lowest core first.
std::vector<int> pinned_workers_by_core();

}  // namespace attune
