#include "ops/elementwise_case.h"

#include <bit>
#include <limits>

namespace attune::test {
namespace {

constexpr int32_t kLow = std::numeric_limits<int32_t>::min();

Tensor run2(const std::string& op, const Tensor& a, const Tensor& b, int version = 21) {
  return OpCase(op, version).input(a).input(b).run()[0];
}

TEST(Binary, integer_division_truncates_and_never_traps) {
  expect_near(run2("Div", i32({5}, {7, -7, 5, kLow, -1}), i32({5}, {2, 2, 0, -1, 2})), i32({5}, {3, -3, 0, kLow, 0}));
}

TEST(Binary, overflow_wraps) {
  expect_near(run2("Mul", tensor_of<uint16_t>({1}, {65535}), tensor_of<uint16_t>({1}, {65535})),
              tensor_of<uint16_t>({1}, {1}));
  expect_near(run2("Sub", i32({1}, {kLow}), i32({1}, {1})), i32({1}, {std::numeric_limits<int32_t>::max()}));
}

TEST(Binary, broadcasts_in_every_direction) {
  const Tensor matrix = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_near(run2("Add", matrix, f32({3}, {10, 20, 30})), f32({2, 3}, {11, 22, 33, 14, 25, 36}));
  expect_near(run2("Sub", f32({2, 1}, {10, 20}), matrix), f32({2, 3}, {9, 8, 7, 16, 15, 14}));
  expect_near(run2("Mul", f32({3, 1}, {1, 2, 3}), f32({1, 2}, {1, 10})), f32({3, 2}, {1, 10, 2, 20, 3, 30}));
  expect_near(run2("Add", f32({}, {1}), f32({}, {2})), f32({}, {3}));
  EXPECT_EQ(run2("Add", f32({0, 3}, {}), f32({1}, {2})).dims(), (Dims{0, 3}));
  const Tensor deep = f32({2, 1, 2, 1}, {1, 2, 3, 4});
  expect_near(run2("Add", deep, f32({2, 1, 2}, {10, 20, 30, 40})),
              f32({2, 2, 2, 2}, {11, 21, 12, 22, 31, 41, 32, 42, 13, 23, 14, 24, 33, 43, 34, 44}));
}

TEST(Binary, shapes_and_dtypes_that_do_not_match_are_refused) {
  EXPECT_THROW(run2("Add", f32({2}, {1, 2}), f32({3}, {1, 2, 3})), UserError);
  EXPECT_THROW(run2("Add", f32({1}, {1}), i64({1}, {1})), UserError);
  EXPECT_THROW(run2("And", f32({1}, {1}), f32({1}, {1})), UserError);
}

TEST(Binary, mod_takes_the_sign_of_the_divisor_unless_fmod) {
  const Tensor a = i32({4}, {-4, 7, 5, 4}), b = i32({4}, {3, -3, 0, -1});
  expect_near(run2("Mod", a, b), i32({4}, {2, -2, 0, 0}));
  expect_near(OpCase("Mod").input(a).input(b).attr("fmod", int64_t{1}).run()[0], i32({4}, {-1, 1, 0, 0}));
  EXPECT_THROW(run2("Mod", f32({1}, {1}), f32({1}, {1}), 13), UserError);
  expect_near(run2("Mod", f32({2}, {-4, 5}), f32({2}, {3, -3}), 28), f32({2}, {2, -1}));
}

TEST(Binary, pow_mixes_dtypes) {
  expect_near(run2("Pow", f32({3}, {2, 3, 4}), i64({3}, {3, 2, 0})), f32({3}, {8, 9, 1}));
  expect_near(run2("Pow", i64({4}, {2, 2, -1, 3}), i64({4}, {62, -1, -3, 40})),
              i64({4}, {int64_t{1} << 62, 0, -1, std::bit_cast<int64_t>(12157665459056928801ull)}));
  expect_near(run2("Pow", i32({1}, {4}), f32({1}, {0.5f})), i32({1}, {2}));
}

TEST(Binary, shifts_by_the_width_or_more_leave_the_fill) {
  const Tensor x = i8({4}, {-8, 8, -8, 1}), amount = i8({4}, {1, 9, -1, 7});
  expect_near(OpCase("BitShift", 28).input(x).input(amount).attr("direction", std::string("RIGHT")).run()[0],
              i8({4}, {-4, 0, -1, 0}));
  expect_near(OpCase("BitShift", 28).input(x).input(amount).attr("direction", std::string("LEFT")).run()[0],
              i8({4}, {-16, 0, 0, -128}));
  EXPECT_THROW(OpCase("BitShift", 11).input(x).input(amount).attr("direction", std::string("LEFT")).run(), UserError);
}

TEST(Binary, comparisons_with_nan_are_false) {
  const Tensor nan = f32({1}, {std::numeric_limits<float>::quiet_NaN()});
  for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
    expect_near(run2(op, nan, nan), bools({1}, {false}));
}

}  // namespace
}  // namespace attune::test
