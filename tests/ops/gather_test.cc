#include "ops/infer_case.h"
#include "ops/op_case.h"

namespace attune::test {
namespace {

TEST(Gather, takes_negative_indices_along_any_axis) {
  const Tensor x = f32({2, 3}, {0, 1, 2, 3, 4, 5});
  expect_near(OpCase("Gather").input(x).input(i64({2}, {-1, 0})).attr("axis", int64_t{1}).run()[0],
              f32({2, 2}, {2, 0, 5, 3}));
  expect_near(OpCase("Gather").input(x).input(i64({}, {1})).run()[0], f32({3}, {3, 4, 5}));
}

TEST(Gather, refuses_indices_outside) {
  const Tensor x = f32({2}, {0, 1});
  for (const int64_t index : {int64_t{2}, int64_t{-3}, INT64_MIN})
    EXPECT_THROW(OpCase("Gather").input(x).input(i64({1}, {index})).run(), UserError);
  EXPECT_THROW(OpCase("Gather").input(f32({0}, {})).input(i64({1}, {0})).run(), UserError);
}

TEST(GatherElements, picks_along_inner_and_outer_axes) {
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});
  expect_near(OpCase("GatherElements").input(x).input(i64({2, 2}, {0, 0, -1, 0})).attr("axis", int64_t{1}).run()[0],
              f32({2, 2}, {1, 1, 4, 3}));
  expect_near(OpCase("GatherElements").input(x).input(i64({1, 2}, {1, 0})).run()[0], f32({1, 2}, {3, 2}));
  EXPECT_THROW(OpCase("GatherElements").input(x).input(i64({1, 3}, {0, 0, 0})).run(), UserError);
  EXPECT_THROW(OpCase("GatherElements").input(x).input(i64({1, 1}, {2})).run(), UserError);
}

TEST(GatherND, follows_batch_dims) {
  const Tensor x = f32({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  expect_near(OpCase("GatherND").input(x).input(i64({2, 1}, {1, 0})).attr("batch_dims", int64_t{1}).run()[0],
              f32({2, 2}, {2, 3, 4, 5}));
  EXPECT_THROW(OpCase("GatherND").input(x).input(i64({1, 4}, {0, 0, 0, 0})).run(), UserError);
  EXPECT_THROW(OpCase("GatherND").input(x).input(i64({1, 1}, {2})).run(), UserError);
}

TEST(GatherInference, keeps_symbols_of_shapes) {
  InferCase graph;
  const ValueId shape = graph.op("Shape", {graph.input("x", DType::f32, Shape{sym("N"), Dim::unknown(), 8})});
  EXPECT_EQ(graph.content(graph.op("Gather", {shape, graph.constant({2, 0, 1})})), "8,N,?");
  EXPECT_EQ(graph.content(graph.op("Gather", {shape, graph.scalar(7)})), "?");
}

}  // namespace
}  // namespace attune::test
