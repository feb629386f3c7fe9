#include "graph/dim.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Dim, numbers_fold) {
  EXPECT_EQ((Dim(3) + Dim(4) * Dim(2)).value(), 11);
  EXPECT_EQ(Dim(7).floor_div(Dim(2)).value(), 3);
  EXPECT_EQ(Dim(-7).floor_div(Dim(2)).value(), -4);
  EXPECT_EQ(Dim(7).ceil_div(Dim(2)).value(), 4);
}

TEST(Dim, symbols_combine_and_cancel) {
  const Dim n = Dim::symbol("N");
  EXPECT_EQ((n * Dim(2) + Dim(1)).text(), "2*N+1");
  EXPECT_EQ((n - n).value(), 0);
  EXPECT_EQ((n * Dim(768) * Dim::symbol("S")).floor_div(n * Dim(12)).text(), "64*S");
  EXPECT_EQ((n + Dim(1)).floor_div(Dim(2)).text(), "floor((N+1)/2)");
}

TEST(Dim, unknown_equals_nothing_and_spreads) {
  EXPECT_FALSE(Dim::unknown() == Dim::unknown());
  EXPECT_TRUE((Dim::unknown() + Dim(1)).is_unknown());
  EXPECT_EQ((Dim::unknown() * Dim(0)).value(), 0);
}

TEST(Dim, overflow_becomes_unknown) {
  EXPECT_TRUE((Dim(INT64_MAX) + Dim(1)).is_unknown());
  EXPECT_TRUE((Dim(INT64_MAX) * Dim::symbol("N") * Dim(2)).is_unknown());
}

TEST(Dim, division_by_zero_is_unknown) { EXPECT_TRUE(Dim(4).floor_div(Dim(0)).is_unknown()); }

}  // namespace
}  // namespace attune
