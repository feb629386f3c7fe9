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
  return judge({ratios(truth, noise, count, 7)}, options).verdict;
}

TEST(Verdict, sees_clear_differences_through_outliers) {
  EXPECT_EQ(verdict(-0.1, 0.02, 15), Verdict::faster);
  EXPECT_EQ(verdict(0.1, 0.02, 15), Verdict::slower);
}

TEST(Verdict, calls_a_tie_when_the_interval_is_narrow) { EXPECT_EQ(verdict(0, 0.005, 61), Verdict::tie); }

TEST(Verdict, needs_as_many_samples_as_its_confidence_takes) {
  const std::vector<double> clear(5, -1.0);
  EXPECT_EQ(judge({clear}, {}).verdict, Verdict::unresolved);
  EXPECT_EQ(judge({std::vector<double>(6, -1.0)}, {}).verdict, Verdict::faster);
}

TEST(Verdict, says_that_it_does_not_know) { EXPECT_EQ(verdict(0.02, 0.2, 15), Verdict::unresolved); }

TEST(Verdict, claims_nothing_that_does_not_matter) { EXPECT_EQ(verdict(-0.006, 0.001, 61), Verdict::tie); }

TEST(Verdict, claims_nothing_below_the_noise_floor) {
  EXPECT_EQ(verdict(-0.02, 0.005, 31), Verdict::faster);
  EXPECT_EQ(verdict(-0.02, 0.005, 31, {0.95, 0.01, 0.05}), Verdict::tie);
}

TEST(Verdict, is_seldom_wrong_about_equals) {
  int claims = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Verdict said = judge({ratios(0, 0.03, 31, seed)}, {0.95, 0.01, 0}).verdict;
    claims += said == Verdict::faster || said == Verdict::slower ? 1 : 0;
  }
  EXPECT_LE(claims, 400 * 5 / 100);
}

TEST(Verdict, claims_nothing_that_the_processes_do_not_agree_on) {
  const auto faster = ratios(-0.05, 0.005, 40, 1), slower = ratios(0.03, 0.005, 15, 2);
  EXPECT_EQ(judge({faster, faster}, {}).verdict, Verdict::faster);
  EXPECT_NE(judge({faster, faster, slower}, {}).verdict, Verdict::faster);
}

TEST(Verdict, noise_is_as_large_as_in_the_noisiest_process) {
  const std::vector<double> calm(20, 0.001), moved(10, 0.03);
  EXPECT_EQ(noise_of({calm, moved, calm}, 0.95), 0.03);
}

TEST(Verdict, noise_is_the_far_end_of_the_interval_or_twice_the_median) {
  const std::vector<double> around_zero = {-0.03, -0.02, -0.01, 0, 0.01, 0.02, 0.05};
  EXPECT_EQ(noise_of({around_zero}, 0.95), 0.05);
  const std::vector<double> aside = {0.04, 0.04, 0.04, 0.04, 0.04, 0.04, 0.05};
  EXPECT_EQ(noise_of({aside}, 0.95), 0.08);
}

}  // namespace
}  // namespace attune::tune
