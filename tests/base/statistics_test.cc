#include "base/statistics.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace attune {
namespace {

std::vector<double> one_to(int count) {
  std::vector<double> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Statistics, median_is_the_middle_or_between_the_two_in_the_middle) {
  EXPECT_EQ(median_of(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median_of(std::vector<double>{4, 1, 2, 3}), 2.5);
}

TEST(Statistics, sign_test_interval_has_the_ranks_of_the_tables) {
  // Of the binomial distribution: for n = 15 the 95 % interval of the median is from the 4th to the 12th.
  EXPECT_EQ(sign_test_interval(one_to(15), 0.95).low, 4);
  EXPECT_EQ(sign_test_interval(one_to(15), 0.95).high, 12);
  EXPECT_EQ(sign_test_interval(one_to(20), 0.95).low, 6);
  EXPECT_EQ(sign_test_interval(one_to(20), 0.95).high, 15);
  EXPECT_EQ(sign_test_interval(one_to(9), 0.95).low, 2);
  EXPECT_EQ(sign_test_interval(one_to(9), 0.95).high, 8);
}

TEST(Statistics, sign_test_interval_of_few_samples_is_all_of_them) {
  EXPECT_EQ(sign_test_interval(one_to(3), 0.95).low, 1);
  EXPECT_EQ(sign_test_interval(one_to(3), 0.95).high, 3);
}

TEST(Statistics, sign_test_p_is_that_of_a_fair_coin) {
  EXPECT_NEAR(sign_test_p(0, 6), 2.0 / 64, 1e-12);
  EXPECT_NEAR(sign_test_p(1, 7), 2 * 9.0 / 256, 1e-12);
  EXPECT_EQ(sign_test_p(5, 5), 1);
}

TEST(Statistics, intervals_cover_the_median_as_often_as_they_say) {
  int by_sign = 0, by_bootstrap = 0;
  constexpr int kTrials = 400;
  for (uint64_t seed = 0; seed < kTrials; ++seed) {
    Random random(seed);
    std::vector<double> samples;
    for (int i = 0; i < 25; ++i) samples.push_back(random.normal());
    const Interval sign = sign_test_interval(samples, 0.95);
    const Interval bootstrap = bootstrap_median_interval(samples, {0.95, 300, seed});
    by_sign += sign.low <= 0 && sign.high >= 0 ? 1 : 0;
    by_bootstrap += bootstrap.low <= 0 && bootstrap.high >= 0 ? 1 : 0;
  }
  EXPECT_GE(by_sign, kTrials * 95 / 100);
  EXPECT_GE(by_bootstrap, kTrials * 90 / 100);
}

TEST(Statistics, bootstrap_repeats_itself_by_seed) {
  const std::vector<double> samples = {1, 5, 2, 8, 3, 9, 4};
  const Interval a = bootstrap_median_interval(samples, {0.9, 200, 5});
  const Interval b = bootstrap_median_interval(samples, {0.9, 200, 5});
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

}  // namespace
}  // namespace attune
