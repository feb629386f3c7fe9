#include "ops/elementwise_case.h"

namespace attune::test {
namespace {

TEST(QuantizedCompute, matmul_takes_zero_points_by_row_and_column) {
  const Tensor a = u8({2, 2}, {1, 2, 3, 4}), b = i8({2, 2}, {1, -1, 2, -2});
  expect_near(OpCase("MatMulInteger").input(a).input(b).run()[0], i32({2, 2}, {5, -5, 11, -11}));
  const Tensor centered =
      OpCase("MatMulInteger").input(a).input(b).input(u8({2}, {1, 3})).input(i8({2}, {1, -1})).run()[0];
  expect_near(centered, i32({2, 2}, {1, -1, 1, -1}));
}

TEST(QuantizedCompute, matmul_broadcasts_stacks_and_vectors) {
  const Tensor a = u8({2, 1, 2}, {1, 2, 3, 4}), b = u8({2}, {10, 1});
  expect_near(OpCase("MatMulInteger").input(a).input(b).run()[0], i32({2, 1}, {12, 34}));
  EXPECT_THROW(OpCase("MatMulInteger").input(a).input(u8({3}, {1, 1, 1})).run(), UserError);
}

TEST(QuantizedCompute, padding_of_an_integer_convolution_is_the_zero_point) {
  const Tensor y = OpCase("ConvInteger")
                       .input(u8({1, 1, 3}, {1, 2, 3}))
                       .input(u8({1, 1, 3}, {1, 1, 1}))
                       .input(u8({}, {1}))
                       .attr("pads", std::vector<int64_t>{1, 1})
                       .run()[0];
  expect_near(y, i32({1, 1, 3}, {1, 3, 3}));
}

TEST(QuantizedCompute, qlinear_conv_scales_by_channel_and_adds_bias) {
  const Tensor y = OpCase("QLinearConv")
                       .input(u8({1, 2, 1, 2}, {1, 2, 3, 4}))
                       .input(f32({}, {0.5f}))
                       .input(u8({}, {0}))
                       .input(i8({2, 1, 1, 1}, {2, 4}))
                       .input(f32({2}, {1, 0.5f}))
                       .input(i8({2}, {0, 2}))
                       .input(f32({}, {0.5f}))
                       .input(u8({}, {10}))
                       .input(i32({2}, {1, 0}))
                       .attr("group", int64_t{2})
                       .run()[0];
  expect_near(y, u8({1, 2, 1, 2}, {13, 15, 13, 14}));
}

TEST(QuantizedCompute, parameters_of_the_wrong_length_are_refused) {
  const Tensor a = u8({2, 2}, {1, 2, 3, 4});
  EXPECT_THROW(OpCase("MatMulInteger").input(a).input(a).input(u8({3}, {0, 0, 0})).run(), UserError);
  EXPECT_THROW(OpCase("MatMulInteger").input(a).input(f32({2, 2}, {1, 2, 3, 4})).run(), UserError);
}

}  // namespace
}  // namespace attune::test
