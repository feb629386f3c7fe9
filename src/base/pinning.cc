#include "base/pinning.h"

#include "base/cores.h"
#include "base/parallel.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <mutex>

namespace attune {
namespace {

/// Which cores there are and how many workers sit on each.
class CoreTable {
 public:
  CoreTable() {
    cpu_set_t mask;
    // The first thread's mask stands for the process; a machine of more than 1024 processors is left unpinned.
    if (usable_cores() < affinity_cores() || sched_getaffinity(getpid(), sizeof mask, &mask) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &mask)) cores_.push_back({core, 0});
  }

  /// The position of a core for one more worker, taken from the end: the caller itself starts near the front. -1: none.
  int take() {
    const std::lock_guard lock(mutex_);
    int best = -1;
    for (int i = static_cast<int>(cores_.size()) - 1; i >= 0; --i)
      if (best < 0 || at(i).workers < at(best).workers) best = i;
    if (best >= 0) ++at(best).workers;
    return best;
  }
  void give_back(int position) {
    const std::lock_guard lock(mutex_);
    --at(position).workers;
  }
  int number(int position) { return at(position).number; }
  std::vector<int> workers() {
    const std::lock_guard lock(mutex_);
    std::vector<int> counts;
    for (const Core& core : cores_) counts.push_back(core.workers);
    return counts;
  }

 private:
  struct Core {
    int number;
    int workers;
  };
  Core& at(int position) { return cores_[static_cast<size_t>(position)]; }

  std::mutex mutex_;
  std::vector<Core> cores_;
};

/// Never destroyed: workers may end after static objects do.
CoreTable& core_table() {
  static auto* table = new CoreTable;
  return *table;
}

/// A worker's place, given back when its thread ends.
class Pin {
 public:
  ~Pin() {
    if (position_ >= 0) core_table().give_back(position_);
  }
  void hold() {
    if (position_ >= 0) return;
    position_ = core_table().take();
    if (position_ < 0) return;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(core_table().number(position_), &mask);
    pthread_setaffinity_np(pthread_self(), sizeof mask, &mask);  // a core that went away in the meantime is no harm
  }

 private:
  int position_ = -1;
};

}  // namespace

void pin_pool_workers() {
  thread_local int pinned_threads = 1;  // of the calling thread's pool
  if (pinned_threads == thread_count() || omp_in_parallel()) return;
  pinned_threads = thread_count();
#pragma omp parallel num_threads(pinned_threads)
  {
    thread_local Pin pin;
    if (omp_get_thread_num() > 0) pin.hold();
  }
}

std::vector<int> pinned_workers_by_core() { return core_table().workers(); }

}  // namespace attune
