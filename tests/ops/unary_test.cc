#include "ops/elementwise_case.h"

#include <limits>

namespace attune::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Unary, round_takes_halves_to_even) {
  expect_near(OpCase("Round").input(f32({4}, {0.5f, 1.5f, 2.5f, -2.5f})).run()[0], f32({4}, {0, 2, 2, -2}));
}

TEST(Unary, abs_and_neg_of_the_lowest_integer_wrap) {
  const Tensor low = i32({1}, {std::numeric_limits<int32_t>::min()});
  expect_near(OpCase("Abs").input(low).run()[0], low);
  expect_near(OpCase("Neg").input(low).run()[0], low);
}

TEST(Unary, sign_of_nan_is_nan) {
  expect_near(OpCase("Sign").input(f32({3}, {-3, 0, kNan})).run()[0], f32({3}, {-1, 0, kNan}));
}

TEST(Unary, is_inf_tells_the_signs_apart) {
  const Tensor src = f32({4}, {kInf, -kInf, kNan, 1});
  expect_near(OpCase("IsInf").input(src).run()[0], bools({4}, {true, true, false, false}));
  expect_near(OpCase("IsInf").input(src).attr("detect_negative", int64_t{0}).run()[0],
              bools({4}, {true, false, false, false}));
}

TEST(Unary, scalars_and_empty_tensors_pass) {
  expect_near(OpCase("Exp").input(f32({}, {0})).run()[0], f32({}, {1}));
  EXPECT_EQ(OpCase("Exp").input(f32({2, 0, 3}, {})).run()[0].dims(), (Dims{2, 0, 3}));
}

TEST(Unary, integers_are_refused_where_floats_are_needed) {
  EXPECT_THROW(OpCase("Sin").input(i64({1}, {1})).run(), UserError);
  EXPECT_THROW(OpCase("Not").input(i64({1}, {1})).run(), UserError);
}

TEST(Unary, half_computes_in_float) {
  const Tensor src = tensor_of<Half>({2}, {Half(4.0f), Half(2.0f)});
  expect_near(OpCase("Sqrt").input(src).run()[0], tensor_of<Half>({2}, {Half(2.0f), Half(1.4142135f)}));
}

}  // namespace
}  // namespace attune::test
