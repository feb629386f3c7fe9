// A barrier for threads that meet every few microseconds, where sleeping would cost more than the work.
#pragma once

#include <atomic>
#include <thread>

namespace attune {

class SpinBarrier {
 public:
  explicit SpinBarrier(int members) : members_(members) {}

  /// Returns when all members have come. Gives the core away after a while: the others may be waiting for it.
  void wait() {
    if (members_ == 1) return;
    const int round = round_.load(std::memory_order_relaxed);
    if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      waiting_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    constexpr int kPatience = 20'000;
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins)
      if (spins > kPatience) std::this_thread::yield();
  }

 private:
  const int members_;
  std::atomic<int> waiting_{0};
  alignas(64) std::atomic<int> round_{0};  // apart from what arriving threads write
};

}  // namespace attune
