#include "base/pinning.h"

#include "base/cores.h"
#include "base/parallel.h"
#include "base/thread_count_scope.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

namespace attune {
namespace {

cpu_set_t own_affinity() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  return mask;
}

int pinned_in_all() {
  const std::vector<int> workers = pinned_workers_by_core();
  return std::accumulate(workers.begin(), workers.end(), 0);
}

TEST(Pinning, spreads_the_workers_of_all_callers_and_leaves_the_callers_alone) {
  if (usable_cores() < affinity_cores()) GTEST_SKIP() << "a cgroup grants fewer cores than the mask names";
  constexpr int kCallers = 4, kThreads = 3;
  const int before = pinned_in_all();
  std::vector<int> spread;
  std::mutex mutex;
  int moved_callers = 0, wide_workers = 0;
  std::barrier together(kCallers, [&]() noexcept { spread = pinned_workers_by_core(); });
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i)
    callers.emplace_back([&] {
      const ThreadCountScope scope(kThreads);
      const cpu_set_t mine = own_affinity();
      pin_pool_workers();
      const cpu_set_t after = own_affinity();
#pragma omp parallel num_threads(kThreads)
      {
        const cpu_set_t worker = own_affinity();
        const std::lock_guard lock(mutex);
        if (omp_get_thread_num() > 0 && CPU_COUNT(&worker) != 1) ++wide_workers;
        if (omp_get_thread_num() == 0 && !CPU_EQUAL(&mine, &after)) ++moved_callers;
      }
      together.arrive_and_wait();
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(moved_callers, 0);
  EXPECT_EQ(wide_workers, 0);
  EXPECT_EQ(std::accumulate(spread.begin(), spread.end(), 0), before + kCallers * (kThreads - 1));
  const auto [least, most] = std::minmax_element(spread.begin(), spread.end());
  EXPECT_LE(*most - *least, 1);
}

}  // namespace
}  // namespace attune
