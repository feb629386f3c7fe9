#include "base/parallel.h"

#include "base/cores.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

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

std::atomic<int>& configured_threads() {
  static std::atomic<int> count{usable_cores()};
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

void run_team(int threads, const std::function<void(int rank, int size)>& body) {
  if (threads <= 1 || omp_in_parallel()) {
    body(0, 1);
    return;
  }
  char fork = 0, join = 0;
  ATTUNE_TSAN_RELEASE(&fork);
#pragma omp parallel num_threads(threads) default(shared)
  {
    ATTUNE_TSAN_ACQUIRE(&fork);
    body(omp_get_thread_num(), omp_get_num_threads());
    ATTUNE_TSAN_RELEASE(&join);
  }
  ATTUNE_TSAN_ACQUIRE(&join);
}

}  // namespace attune
