#include "tune/measure/verdict.h"

#include "base/random.h"

#include <gtest/gtest.h>

namespace attune::tune {
namespace {

/// Log-ratios around a true one, with a noise of this standard deviation and, now and then, an outlier.
std::vector<double> ratios(double truth, double noise, int count, uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(truth + noise * random.normal() + (random.below(20) == 0 ? 0.5 : 0));
  return values;
}

Verdict verdict(double truth, double noise, int count, VerdictOptions options = {}) {
  return judge(ratios(truth, noise, count, 7), options).verdict;
}

TEST(Verdict, sees_clear_differences_through_outliers) {
  EXPECT_EQ(verdict(-0.1, 0.02, 15), Verdict::faster);
  EXPECT_EQ(verdict(0.1, 0.02, 15), Verdict::slower);
}

TEST(Verdict, calls_a_tie_when_the_interval_is_narrow) { EXPECT_EQ(verdict(0, 0.005, 61), Verdict::tie); }

TEST(Verdict, says_that_it_does_not_know) { EXPECT_EQ(verdict(0.02, 0.2, 15), Verdict::unresolved); }

TEST(Verdict, claims_nothing_below_the_noise_floor) {
  EXPECT_EQ(verdict(-0.02, 0.005, 31), Verdict::faster);
  EXPECT_EQ(verdict(-0.02, 0.005, 31, {0.95, 0.01, 0.05}), Verdict::tie);
}

TEST(Verdict, is_seldom_wrong_about_equals) {
  int claims = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Verdict said = judge(ratios(0, 0.03, 31, seed), {0.95, 0.01, 0}).verdict;
    claims += said == Verdict::faster || said == Verdict::slower ? 1 : 0;
  }
  EXPECT_LE(claims, 400 * 5 / 100);
}

TEST(Verdict, noise_is_the_far_end_of_the_interval) {
  const std::vector<double> duplicate = ratios(0, 0.01, 31, 3);
  const Interval interval = sign_test_interval(duplicate, 0.95);
  EXPECT_EQ(noise_of(duplicate, 0.95), std::max(-interval.low, interval.high));
}

}  // namespace
}  // namespace attune::tune
