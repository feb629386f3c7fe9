#include "ops/op_case.h"

#include "base/error.h"

namespace attune::test {
namespace {

TEST(Det, pivots_and_handles_batches) {
  expect_near(OpCase("Det").input(f32({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4})).run()[0], f32({2}, {-6, 0}));
  expect_near(OpCase("Det").input(f32({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 1})).run()[0], f32({}, {0}), 1e-6);
}

TEST(Det, is_one_for_an_empty_matrix_and_refuses_oblong_ones) {
  expect_near(OpCase("Det").input(Tensor::allocate(DType::f32, {0, 0})).run()[0], f32({}, {1}));
  EXPECT_THROW(OpCase("Det").input(f32({1, 2}, {1, 2})).run(), UserError);
}

}  // namespace
}  // namespace attune::test
