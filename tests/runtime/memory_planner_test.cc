#include "runtime/memory_planner.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attune {
namespace {

TEST(MemoryPlanner, buffers_that_never_live_together_share_memory) {
  const ArenaLayout layout = plan_arena({{1000, 0, 1}, {1000, 2, 3}});
  EXPECT_EQ(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(layout.bytes, 1024);
}

TEST(MemoryPlanner, buffers_that_touch_in_one_step_do_not_share) {
  const ArenaLayout layout = plan_arena({{64, 0, 1}, {64, 1, 2}});
  EXPECT_NE(layout.offsets[0], layout.offsets[1]);
}

TEST(MemoryPlanner, nothing_needs_nothing) { EXPECT_EQ(plan_arena({}).bytes, 0); }

TEST(MemoryPlanner, random_lifetimes_never_overlap_in_space_and_time) {
  Random random(11);
  std::vector<BufferLifetime> buffers;
  for (int i = 0; i < 300; ++i) {
    const int64_t first = random.below(100);
    buffers.push_back({random.below(5000), first, first + random.below(10)});
  }
  const ArenaLayout layout = plan_arena(buffers);
  int64_t peak = 0;
  for (int64_t step = 0; step < 110; ++step) {
    int64_t live = 0;
    for (const BufferLifetime& b : buffers)
      if (b.first <= step && step <= b.last) live += b.bytes;
    peak = std::max(peak, live);
  }
  EXPECT_GE(layout.bytes, peak);
  EXPECT_LE(layout.bytes, 2 * peak);  // far from the sum of all
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % 64, 0);
    EXPECT_LE(layout.offsets[i] + buffers[i].bytes, layout.bytes);
    for (size_t j = 0; j < i; ++j) {
      const bool together = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      const bool apart = layout.offsets[i] + buffers[i].bytes <= layout.offsets[j] ||
                         layout.offsets[j] + buffers[j].bytes <= layout.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
}

}  // namespace
}  // namespace attune
