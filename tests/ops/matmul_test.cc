#include "ops/op_case.h"

namespace attune::test {
namespace {

TEST(MatMul, multiplies_vectors_matrices_and_batches) {
  expect_near(OpCase("MatMul").input(f32({3}, {1, 2, 3})).input(f32({3}, {4, 5, 6})).run()[0], f32({}, {32}));
  expect_near(OpCase("MatMul").input(f32({2}, {1, 2})).input(f32({2, 2}, {1, 2, 3, 4})).run()[0], f32({2}, {7, 10}));
  expect_near(OpCase("MatMul").input(f32({2, 1, 2}, {1, 2, 3, 4})).input(f32({2}, {10, 1})).run()[0],
              f32({2, 1}, {12, 34}));
  expect_near(
      OpCase("MatMul").input(f32({2, 1, 1, 2}, {1, 2, 3, 4})).input(f32({3, 2, 1}, {1, 0, 0, 1, 1, 1})).run()[0],
      f32({2, 3, 1, 1}, {1, 2, 3, 3, 4, 7}));
}

TEST(MatMul, gives_zeros_for_an_empty_inner_dim) {
  expect_near(OpCase("MatMul").input(f32({2, 0}, {})).input(f32({0, 2}, {})).run()[0], f32({2, 2}, {0, 0, 0, 0}));
  EXPECT_EQ(OpCase("MatMul").input(f32({0, 2}, {})).input(f32({2, 3}, {1, 2, 3, 4, 5, 6})).run()[0].dims(),
            (Dims{0, 3}));
}

TEST(MatMul, wraps_integers) {
  const int64_t large = int64_t{1} << 62;
  expect_near(OpCase("MatMul").input(i64({1, 2}, {large, 1})).input(i64({2, 1}, {4, 5})).run()[0], i64({1, 1}, {5}));
}

TEST(MatMul, refuses_what_does_not_match) {
  EXPECT_THROW(OpCase("MatMul").input(f32({2, 3}, {1, 2, 3, 4, 5, 6})).input(f32({2, 2}, {1, 2, 3, 4})).run(),
               UserError);
  EXPECT_THROW(OpCase("MatMul").input(f32({}, {1})).input(f32({1, 1}, {1})).run(), UserError);
  EXPECT_THROW(OpCase("MatMul").input(f32({1, 1}, {1})).input(i64({1, 1}, {1})).run(), UserError);
}

TEST(GemmOp, scales_transposes_and_broadcasts) {
  const Tensor result = OpCase("Gemm")
                            .input(f32({2, 1}, {1, 2}))
                            .input(f32({3, 2}, {1, 2, 3, 4, 5, 6}))
                            .input(f32({3}, {1, 0, -1}))
                            .attr("transA", int64_t{1})
                            .attr("transB", int64_t{1})
                            .attr("alpha", 2.0f)
                            .attr("beta", 10.0f)
                            .run()[0];
  expect_near(result, f32({1, 3}, {20, 22, 24}));
  EXPECT_THROW(OpCase("Gemm").input(f32({1, 1}, {1})).input(f32({1, 1}, {1})).input(f32({2, 1}, {1, 1})).run(),
               UserError);
}

}  // namespace
}  // namespace attune::test
