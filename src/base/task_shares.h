// Tasks shared out among a team: each member has a run of neighbours, and helps others once its own are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace attune {

/// From run to run a member gets the same tasks, so what they write is still in its cache. Taking tasks from one
/// counter instead made attention of BERT's size 1.2 times as slow on two threads (bench/kernels/attention.py).
class TaskShares {
 public:
  TaskShares(int64_t tasks, int members) : shares_(static_cast<size_t>(members)) {
    for (int64_t i = 0; i < members; ++i) {
      shares_[static_cast<size_t>(i)].next = tasks * i / members;
      shares_[static_cast<size_t>(i)].end = tasks * (i + 1) / members;
    }
  }

  /// The next task for a member, or -1 when none is left for anyone.
  int64_t take(int member) {
    const size_t count = shares_.size();
    for (size_t i = 0; i < count; ++i) {
      Share& share = shares_[(static_cast<size_t>(member) + i) % count];
      if (share.next.load(std::memory_order_relaxed) >= share.end) continue;
      const int64_t task = share.next.fetch_add(1, std::memory_order_relaxed);
      if (task < share.end) return task;
    }
    return -1;
  }

 private:
  struct alignas(64) Share {  // a line of its own
    std::atomic<int64_t> next = 0;
    int64_t end = 0;
  };
  std::vector<Share> shares_;
};

}  // namespace attune
