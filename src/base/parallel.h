// The one thread pool: everything that runs in parallel goes through parallel_for, which uses the OpenMP pool that
// vendor libraries share (two pools fight over the same cores).
#pragma once

#include <cstdint>
#include <functional>

namespace attune {

/// Threads that parallel_for may use. Defaults to the cores of the affinity mask and the cgroup quota.
int thread_count();
void set_thread_count(int count);

/// Calls body(begin, end) on disjoint ranges that cover [0, count), each at least `grain` long where possible. Runs
/// inline when one range is enough or when called from inside another parallel_for. An exception thrown by a body is
/// rethrown in the caller after all ranges have ended.
void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body);

/// Calls body(rank, size) on threads that run at the same time, so that they may wait for each other: `threads` of
/// them, or fewer where the pool grants no more; one, inline, when called from inside another parallel region. The body
/// must not throw.
void run_team(int threads, const std::function<void(int rank, int size)>& body);

}  // namespace attune
