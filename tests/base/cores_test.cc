#include "base/cores.h"

#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace attune {
namespace {

TEST(Cores, follow_the_affinity_mask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(affinity_cores(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(affinity_cores(), 1);
  EXPECT_EQ(usable_cores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Cores, never_exceed_the_quota) {
  const auto quota = quota_cores();
  if (!quota) GTEST_SKIP() << "no quota here";
  EXPECT_GT(*quota, 0);
  EXPECT_LT(usable_cores(), *quota + 1);
}

}  // namespace
}  // namespace attune
