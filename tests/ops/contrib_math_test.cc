#include "ops/op_case.h"

namespace attune::test {
namespace {

OpCase contrib(const char* op) { return OpCase(op, 1, "com.microsoft"); }

TEST(FusedMatMul, reads_its_operands_transposed_and_scales) {
  const auto out = contrib("FusedMatMul")
                       .input(f32({2, 1}, {1, 2}))
                       .input(f32({3, 2}, {1, 0, 0, 1, 1, 1}))
                       .attr("transA", int64_t{1})
                       .attr("transB", int64_t{1})
                       .attr("alpha", 2.0f)
                       .run();
  expect_near(out[0], f32({1, 3}, {2, 4, 6}));
}

TEST(FusedMatMul, moves_the_first_axis_behind_the_batch) {
  // A is [rows, batch, inner]: row r of batch b is A[r][b].
  const auto out = contrib("FusedMatMul")
                       .input(f32({2, 3, 1}, {1, 2, 3, 4, 5, 6}))
                       .input(f32({3, 1, 1}, {1, 10, 100}))
                       .attr("transBatchA", int64_t{1})
                       .run();
  expect_near(out[0], f32({3, 2, 1}, {1, 4, 20, 50, 300, 600}));
}

TEST(FusedMatMul, refuses_inner_dims_that_differ) {
  EXPECT_THROW(contrib("FusedMatMul").input(f32({1, 2}, {1, 2})).input(f32({1, 2}, {1, 2})).run(), UserError);
}

TEST(BiasGelu, adds_the_bias_first) {
  const auto out = contrib("BiasGelu").input(f32({1, 2}, {1, -1})).input(f32({2}, {-1, 2})).run();
  expect_near(out[0], f32({1, 2}, {0, 0.8413447f}));
}

TEST(QuickGelu, is_a_scaled_sigmoid_gate) {
  expect_near(contrib("QuickGelu").input(f32({1}, {1})).attr("alpha", 0.0f).run()[0], f32({1}, {0.5}));
}

TEST(FastGelu, refuses_a_bias_of_another_width) {
  EXPECT_THROW(contrib("FastGelu").input(f32({1, 2}, {1, 2})).input(f32({1}, {1})).run(), UserError);
}

TEST(FusedConv, adds_the_residual_before_the_activation) {
  const auto out = contrib("FusedConv")
                       .input(f32({1, 1, 2, 2}, {1, 2, 3, 4}))
                       .input(f32({1, 1, 1, 1}, {2}))
                       .no_input()
                       .input(f32({1, 1, 2, 2}, {-3, -3, -3, -30}))
                       .attr("activation", std::string("LeakyRelu"))
                       .attr("activation_params", std::vector<float>{0.5f})
                       .run();
  expect_near(out[0], f32({1, 1, 2, 2}, {-0.5, 1, 3, -11}));
}

}  // namespace
}  // namespace attune::test
