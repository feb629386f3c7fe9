#include "ops/convert.h"
#include "ops/elementwise_case.h"
#include "ops/packed.h"

#include <limits>

namespace attune::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Cast, packs_low_bits_first) {
  const Tensor packed = convert(i8({3}, {1, -2, 7}), DType::i4);
  ASSERT_EQ(packed.size_bytes(), 2);
  EXPECT_EQ(static_cast<uint8_t>(packed.bytes()[0]), 0xE1);
  EXPECT_EQ(static_cast<uint8_t>(packed.bytes()[1]), 0x07);
  expect_near(unpack_bytes(packed), i8({3}, {1, -2, 7}));
  expect_near(convert(packed, DType::i64), i64({3}, {1, -2, 7}));
  EXPECT_EQ(element_as_int(packed, 1), -2);
}

TEST(Cast, every_dtype_holds_small_numbers) {
  const Tensor ones = f32({5}, {1, 0, 1, 1, 0});
  for (int i = 1; i <= static_cast<int>(DType::boolean); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dtype == DType::f8e8m0) continue;  // it has no zero
    const Tensor there = convert(ones, dtype);
    EXPECT_EQ(there.dtype(), dtype);
    EXPECT_EQ(element_as_double(there, 2), 1.0) << dtype_name(dtype);
    if (dtype == DType::i2) continue;
    expect_near(convert(there, DType::f32), ones);
  }
}

TEST(Cast, floats_out_of_range_become_defined_integers) {
  expect_near(convert(f32({4}, {kNan, kInf, -kInf, -1.9f}), DType::i32),
              i32({4}, {0, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min(), -1}));
  expect_near(convert(f32({2}, {-1, 300}), DType::u8), u8({2}, {255, 44}));
}

TEST(Cast, saturate_decides_what_overflow_becomes_in_fp8) {
  auto cast = [](int64_t saturate) {
    return OpCase("Cast").input(f32({1}, {1e6f})).attr("to", int64_t{19}).attr("saturate", saturate).run()[0];
  };
  EXPECT_EQ(element_as_double(cast(1), 0), 57344.0);
  EXPECT_EQ(element_as_double(cast(0), 0), std::numeric_limits<double>::infinity());
}

TEST(Cast, double_rounds_once_on_the_way_to_half) {
  // Just above the middle of two halfs: rounding to float first would land on the middle and go to even.
  const double above = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(element_as_double(convert(Tensor::scalar<double>(above), DType::f16), 0), 1.0 + 0x1p-10);
}

TEST(Cast, refuses_strings_and_unknown_types) {
  EXPECT_THROW(OpCase("Cast").input(f32({1}, {1})).attr("to", int64_t{8}).run(), UnsupportedError);
  EXPECT_THROW(OpCase("Cast").input(f32({1}, {1})).attr("to", int64_t{99}).run(), UserError);
  EXPECT_THROW(OpCase("Cast").input(f32({1}, {1})).run(), UserError);
}

TEST(Cast, bit_cast_keeps_the_bits_and_needs_equal_widths) {
  expect_near(OpCase("BitCast", 26).input(f32({1}, {1})).attr("to", int64_t{6}).run()[0], i32({1}, {0x3F800000}));
  EXPECT_THROW(OpCase("BitCast", 26).input(f32({1}, {1})).attr("to", int64_t{7}).run(), UserError);
}

}  // namespace
}  // namespace attune::test
