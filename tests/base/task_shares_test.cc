#include "base/task_shares.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace attune {
namespace {

TEST(TaskShares, members_take_their_own_tasks_first_then_those_of_others) {
  TaskShares shares(5, 2);  // 0 and 1, then 2 to 4
  EXPECT_EQ(shares.take(0), 0);
  EXPECT_EQ(shares.take(1), 2);
  EXPECT_EQ(shares.take(0), 1);
  EXPECT_EQ(shares.take(0), 3) << "its own are done";
  EXPECT_EQ(shares.take(1), 4);
  EXPECT_EQ(shares.take(0), -1);
  EXPECT_EQ(shares.take(1), -1);
}

TEST(TaskShares, more_members_than_tasks) {
  TaskShares shares(1, 3);
  EXPECT_EQ(shares.take(0), 0);
  for (int member = 0; member < 3; ++member) EXPECT_EQ(shares.take(member), -1);
}

TEST(TaskShares, every_task_is_taken_once) {
  constexpr int kTasks = 10'000, kMembers = 4;
  TaskShares shares(kTasks, kMembers);
  std::vector<std::atomic<int>> taken(kTasks);
  std::vector<std::thread> threads;
  for (int member = 0; member < kMembers; ++member)
    threads.emplace_back([&, member] {
      for (int64_t task = shares.take(member); task >= 0; task = shares.take(member))
        ++taken[static_cast<size_t>(task)];
    });
  for (std::thread& thread : threads) thread.join();
  for (int task = 0; task < kTasks; ++task) ASSERT_EQ(taken[static_cast<size_t>(task)], 1) << task;
}

}  // namespace
}  // namespace attune
