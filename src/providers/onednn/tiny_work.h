// Work so small that waking other threads costs more than it saves.
#pragma once

#include "kernel/workload.h"

namespace attune::onednn {

/// Threads that a primitive for this workload is made for: 1 when it is done in a few microseconds, else
/// thread_count().
int threads_for(const Workload& workload);

}  // namespace attune::onednn
