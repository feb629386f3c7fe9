#include "base/parallel.h"

#include "base/cores.h"
#include "base/thread_count_scope.h"

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

thread_local int scoped_threads = 0;  // 0: as configured

}  // namespace

int thread_count() {
  return scoped_threads > 0 ? scoped_threads : configured_threads().load(std::memory_order_relaxed);
}
void set_thread_count(int count) { configured_threads().store(std::max(1, count), std::memory_order_relaxed); }

ThreadCountScope::ThreadCountScope(int count) : before_(scoped_threads) {
  if (count > 0) scoped_threads = count;
}
ThreadCountScope::~ThreadCountScope() { scoped_threads = before_; }

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
  // Always the whole pool: threads that a smaller team leaves out would end, and be started again by the next one.
#pragma omp parallel num_threads(thread_count()) default(shared)
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
  // The whole pool here too; those that are not wanted have nothing to do.
#pragma omp parallel num_threads(std::max(threads, thread_count())) default(shared)
  {
    ATTUNE_TSAN_ACQUIRE(&fork);
    const int size = std::min(threads, omp_get_num_threads());
    if (omp_get_thread_num() < size) body(omp_get_thread_num(), size);
    ATTUNE_TSAN_RELEASE(&join);
  }
  ATTUNE_TSAN_ACQUIRE(&join);
}

}  // namespace attune
