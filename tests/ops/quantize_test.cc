#include "ops/convert.h"
#include "ops/elementwise_case.h"

#include <limits>

namespace attune::test {
namespace {

TEST(Quantize, rounds_to_even_and_saturates) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor y = OpCase("QuantizeLinear")
                       .input(f32({5}, {1, 3, 1000, -1000, inf}))
                       .input(f32({}, {2}))
                       .input(u8({}, {128}))
                       .run()[0];
  expect_near(y, u8({5}, {128, 130, 255, 0, 255}));
}

TEST(Quantize, goes_per_axis_first_middle_and_last) {
  const Tensor src = f32({2, 2}, {2, 4, 6, 8}), scales = f32({2}, {1, 2}), zeros = i8({2}, {0, 1});
  auto quantize = [&](int64_t axis) {
    return OpCase("QuantizeLinear").input(src).input(scales).input(zeros).attr("axis", axis).run()[0];
  };
  expect_near(quantize(0), i8({2, 2}, {2, 4, 4, 5}));
  expect_near(quantize(-1), i8({2, 2}, {2, 3, 6, 5}));
}

TEST(Quantize, blocks_may_end_in_a_shorter_one) {
  const Tensor src = f32({1, 5}, {1, 2, 3, 4, 5});
  const Tensor y = OpCase("QuantizeLinear")
                       .input(src)
                       .input(f32({1, 3}, {1, 0.5f, 5}))
                       .attr("block_size", int64_t{2})
                       .attr("output_dtype", int64_t{3})
                       .run()[0];
  expect_near(y, i8({1, 5}, {1, 2, 6, 8, 1}));
  const Tensor back =
      OpCase("DequantizeLinear").input(y).input(f32({1, 3}, {1, 0.5f, 5})).attr("block_size", int64_t{2}).run()[0];
  expect_near(back, src);
}

TEST(Quantize, blocks_run_over_outer_axes) {
  const Tensor y = OpCase("DequantizeLinear")
                       .input(i8({3, 2}, {1, 2, 3, 4, 5, 6}))
                       .input(f32({2, 2}, {1, 10, 100, 1000}))
                       .attr("axis", int64_t{0})
                       .attr("block_size", int64_t{2})
                       .run()[0];
  expect_near(y, f32({3, 2}, {1, 20, 3, 40, 500, 6000}));
}

TEST(Quantize, four_bit_outputs_are_packed) {
  const Tensor y = OpCase("QuantizeLinear")
                       .input(f32({3}, {-20, 3, 20}))
                       .input(f32({}, {1}))
                       .attr("output_dtype", int64_t{22})
                       .run()[0];
  EXPECT_EQ(y.dtype(), DType::i4);
  expect_near(convert(y, DType::i8), i8({3}, {-8, 3, 7}));
}

TEST(Quantize, scales_that_do_not_fit_are_refused) {
  const Tensor src = f32({2, 2}, {2, 4, 6, 8});
  EXPECT_THROW(OpCase("QuantizeLinear").input(src).input(f32({3}, {1, 1, 1})).run(), UserError);
  EXPECT_THROW(OpCase("QuantizeLinear").input(src).input(f32({2, 2}, {1, 1, 1, 1})).run(), UserError);
  EXPECT_THROW(OpCase("QuantizeLinear").input(src).input(f32({2}, {1, 1})).attr("axis", int64_t{2}).run(), UserError);
  EXPECT_THROW(OpCase("QuantizeLinear").input(src).input(f32({2}, {1, 1})).input(u8({}, {0})).run(), UserError);
}

TEST(Quantize, dynamic_range_always_holds_zero) {
  const auto outputs = OpCase("DynamicQuantizeLinear").input(f32({2}, {255, 51})).outputs(3).run();
  expect_near(outputs[0], u8({2}, {255, 51}));
  expect_near(outputs[1], f32({}, {1}));
  expect_near(outputs[2], u8({}, {0}));
  EXPECT_EQ(OpCase("DynamicQuantizeLinear").input(f32({0}, {})).outputs(3).run()[0].count(), 0);
}

}  // namespace
}  // namespace attune::test
