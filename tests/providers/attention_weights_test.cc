// The errors that attention_weights.h states, for vectors of the narrowest instruction set. Others round powers to
// integers with one instruction and share the rest; the conformance suite runs them.
#define LANES 4
#include "providers/native/attention_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attune::native {
namespace {

template <bool kBriefly> float weight(float x) { return weight_of<kBriefly>(Vector{} + x)[0]; }

/// What is wrong at most with weights of scores [least, 0], as a part of each.
template <bool kBriefly> double worst_error(double least) {
  double worst = 0;
  for (int i = 0; i <= 100000; ++i) {
    const auto x = static_cast<float>(least * i / 100000);
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(weight<kBriefly>(x)) - exact) / exact);
  }
  return worst;
}

TEST(AttentionWeights, keep_the_stated_errors) {
  // The product with log2(e) is rounded: half a unit in the last place of a power below 2, then of all that count.
  EXPECT_LE(worst_error<false>(-1), 4e-7);
  EXPECT_LE(worst_error<false>(-87), 6e-6);
  EXPECT_LE(worst_error<true>(-1), 8.5e-5);
  EXPECT_LE(worst_error<true>(-87), 9e-5);
}

TEST(AttentionWeights, are_zero_where_nothing_counts_and_hand_on_what_is_not_a_number) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float hidden : {-inf, -1e30F, -88.0F}) {
    EXPECT_EQ(weight<false>(hidden), 0);
    EXPECT_EQ(weight<true>(hidden), 0);
  }
  EXPECT_TRUE(std::isnan(weight<false>(nan)));
  EXPECT_TRUE(std::isnan(weight<true>(nan)));
}

}  // namespace
}  // namespace attune::native
