#include "ops/infer_case.h"
#include "ops/op_case.h"

namespace attune::test {
namespace {

TEST(Constant, has_many_forms) {
  EXPECT_EQ(OpCase("Constant").attr("value_int", int64_t{7}).run()[0].dims(), Dims{});
  expect_near(OpCase("Constant").attr("value_floats", std::vector<float>{1, 2}).run()[0], f32({2}, {1, 2}));
  EXPECT_THROW(OpCase("Constant").attr("value_string", std::string("x")).run(), UnsupportedError);
  EXPECT_THROW(OpCase("Constant").run(), UserError);
}

TEST(Range, counts_without_overflow) {
  auto range = [](int64_t start, int64_t limit, int64_t delta) {
    return OpCase("Range").input(i64({}, {start})).input(i64({}, {limit})).input(i64({}, {delta})).run()[0];
  };
  expect_near(range(10, 3, -3), i64({3}, {10, 7, 4}));
  EXPECT_EQ(range(0, 5, -1).count(), 0);
  expect_near(range(INT64_MIN, INT64_MAX, INT64_MAX), i64({3}, {INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_THROW(range(INT64_MIN, INT64_MAX, 1), UserError);
  EXPECT_THROW(range(0, 1, 0), UserError);
}

TEST(Range, refuses_endless_floats) {
  for (const float delta : {0.0f, 1e-38f, NAN})
    EXPECT_THROW(OpCase("Range").input(f32({}, {0})).input(f32({}, {1e9f})).input(f32({}, {delta})).run(), UserError);
}

TEST(EyeLike, allows_diagonals_outside) {
  const Tensor x = Tensor::zeros(DType::f32, {2, 3});
  expect_near(OpCase("EyeLike").input(x).attr("k", int64_t{-1}).run()[0], f32({2, 3}, {0, 0, 0, 1, 0, 0}));
  expect_near(OpCase("EyeLike").input(x).attr("k", INT64_MAX).run()[0], x);
}

TEST(ConstantOfShape, refuses_negative_dims) {
  EXPECT_THROW(OpCase("ConstantOfShape").input(i64({1}, {-1})).run(), UserError);
  EXPECT_THROW(OpCase("ConstantOfShape").input(i64({2}, {INT64_MAX, 2})).run(), UserError);
  expect_near(OpCase("ConstantOfShape").input(i64({0}, {})).run()[0], f32({}, {0}));
}

TEST(GenerateInference, carries_symbols) {
  InferCase graph;
  const ValueId shape = graph.op("Shape", {graph.input("x", DType::f32, Shape{sym("N"), 3})});
  const ValueId batch = graph.op("Gather", {shape, graph.scalar(0)});
  EXPECT_EQ(graph.shape(graph.op("Range", {graph.scalar(0), batch, graph.scalar(1)})), "N");
  EXPECT_EQ(graph.shape(graph.op("ConstantOfShape", {shape})), "Nx3");
  const ValueId ones =
      graph.op("ConstantOfShape", {graph.op("Shape", {shape})}, {{"value", Tensor::vector(std::vector<int64_t>{1})}});
  EXPECT_EQ(graph.content(ones), "1,1");
}

}  // namespace
}  // namespace attune::test
