#include "base/parallel.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
// ThreadSanitizer cannot see libgomp's barriers; these state the two edges that a parallel region has.
#define ATTUNE_TSAN_RELEASE(address) __tsan_release(address)
#define ATTUNE_TSAN_ACQUIRE(address) __tsan_acquire(address)
#else
#define ATTUNE_TSAN_RELEASE(address) static_cast<void>(address)
#define ATTUNE_TSAN_ACQUIRE(address) static_cast<void>(address)
#endif

namespace attune {
namespace {

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// Cores that the cgroup's quota pays for; a large number when there is none.
int quota_cores() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period && quota != "max" && period > 0)
    return std::max(1, static_cast<int>(std::ceil(std::stod(quota) / period)));
  std::ifstream quota_v1("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_v1("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double microseconds = 0;
  if (quota_v1 >> microseconds && period_v1 >> period && microseconds > 0 && period > 0)
    return std::max(1, static_cast<int>(std::ceil(microseconds / period)));
  return 1 << 16;
}

std::atomic<int>& configured_threads() {
  static std::atomic<int> count{std::min(affinity_cores(), quota_cores())};
  return count;
}

}  // namespace

int thread_count() { return configured_threads().load(std::memory_order_relaxed); }
void set_thread_count(int count) { configured_threads().store(std::max(1, count), std::memory_order_relaxed); }

void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  const int64_t ranges =
      std::min<int64_t>(thread_count(), (count + std::max<int64_t>(grain, 1) - 1) / std::max<int64_t>(grain, 1));
  if (ranges <= 1 || omp_in_parallel()) {
    body(0, count);
    return;
  }
  std::exception_ptr failure;
  std::mutex failure_mutex;
  char fork = 0, join = 0;  // addresses for the sanitizer's edges
  ATTUNE_TSAN_RELEASE(&fork);
#pragma omp parallel num_threads(static_cast <int>(ranges)) default(shared)
  {
    ATTUNE_TSAN_ACQUIRE(&fork);
    // The library may grant fewer threads than asked for, so each takes every n-th range.
    for (int64_t range = omp_get_thread_num(); range < ranges; range += omp_get_num_threads()) {
      try {
        body(count * range / ranges, count * (range + 1) / ranges);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
      }
    }
    ATTUNE_TSAN_RELEASE(&join);
  }
  ATTUNE_TSAN_ACQUIRE(&join);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace attune
