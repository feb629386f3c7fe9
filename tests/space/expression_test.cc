#include "space/expression.h"

#include "base/error.h"
#include "space/space.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Expression, reads_as_it_was_written) {
  Space space;
  const Param a = space.ordinal("a", {1, 2}), b = space.ordinal("b", {1, 2});
  const Param layout = space.categorical("layout", {"nchw", "nhwc"});
  const Param order = space.permutation("order", {"m", "n"});
  EXPECT_EQ(((a + 1) * b <= 64).node().text, "(a + 1) * b <= 64");
  EXPECT_EQ((a - (b - 1) == 0).node().text, "a - (b - 1) == 0");
  EXPECT_EQ((!(a < b) || layout == "nhwc").node().text, "!(a < b) || layout == 'nhwc'");
  EXPECT_EQ((order.position("n") > 0).node().text, "0 < order.position(n)");
  EXPECT_EQ((ceil_div(a, b) % 4 != 0).node().text, "ceil_div(a, b) % 4 != 0");
}

TEST(Expression, knows_its_parameters_once_each) {
  Space space;
  const Param a = space.ordinal("a", {1}), b = space.ordinal("b", {1}), c = space.ordinal("c", {1});
  EXPECT_EQ((c * a + a <= 3).node().parameters, (std::vector<int>{0, 2}));
  EXPECT_TRUE((Expr(1) == 1).node().parameters.empty());
  EXPECT_EQ(Expr(b).node().parameters, std::vector<int>{1});
}

TEST(Expression, divides_by_zero_and_leaves_64_bits_without_holding) {
  Space space;
  const Param a = space.ordinal("a", {0, 3}), huge = space.ordinal("huge", {INT64_MAX});
  const Point zero{0, 0}, three{1, 0};
  EXPECT_FALSE(holds(evaluate((6 % a == 0).node(), zero)));
  EXPECT_FALSE(holds(evaluate((6 / a != 5).node(), zero)));
  EXPECT_TRUE(holds(evaluate((6 % a == 0).node(), three)));
  EXPECT_TRUE(holds(evaluate((a == 0 || 7 % a == 1).node(), zero)));
  EXPECT_FALSE(holds(evaluate((huge * 2 > 0).node(), zero)));
  EXPECT_FALSE(holds(evaluate((huge + huge < 0).node(), zero)));
}

TEST(Expression, rounds_quotients_up) {
  EXPECT_EQ(apply(ExprOp::ceil_divide, 7, 2), 4);
  EXPECT_EQ(apply(ExprOp::ceil_divide, 8, 2), 4);
  EXPECT_EQ(apply(ExprOp::ceil_divide, -7, 2), -3);
  EXPECT_EQ(apply(ExprOp::ceil_divide, -7, -2), 4);
}

TEST(Expression, refuses_texts_that_a_parameter_does_not_have) {
  Space space;
  const Param layout = space.categorical("layout", {"nchw", "nhwc"});
  const Param order = space.permutation("order", {"m", "n"});
  EXPECT_THROW(static_cast<void>(layout == "chwn"), UserError);
  EXPECT_THROW(static_cast<void>(order.position("k")), UserError);
}

}  // namespace
}  // namespace attune
