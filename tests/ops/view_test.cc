#include "ops/infer_case.h"
#include "ops/op_case.h"

namespace attune::test {
namespace {

const Dim N = sym("N"), S = sym("S");

TEST(Shape, clamps_start_and_end) {
  const Tensor x = Tensor::zeros(DType::f32, {2, 3, 4});
  expect_near(OpCase("Shape").input(x).attr("start", int64_t{-2}).attr("end", int64_t{9}).run()[0], i64({2}, {3, 4}));
  EXPECT_EQ(OpCase("Shape").input(x).attr("start", int64_t{2}).attr("end", int64_t{1}).run()[0].dims(), Dims{0});
}

TEST(Reshape, copies_and_infers_dims) {
  const Tensor x = Tensor::zeros(DType::f32, {2, 3, 4});
  EXPECT_EQ(OpCase("Reshape").input(x).input(i64({3}, {0, -1, 2})).run()[0].dims(), (Dims{2, 6, 2}));
  const Tensor empty = Tensor::zeros(DType::f32, {0, 3});
  EXPECT_EQ(OpCase("Reshape").input(empty).input(i64({2}, {0, -1})).run()[0].dims(), (Dims{0, 3}));
  EXPECT_EQ(OpCase("Reshape").input(empty).input(i64({2}, {3, 0})).attr("allowzero", int64_t{1}).run()[0].dims(),
            (Dims{3, 0}));
}

TEST(Reshape, shares_the_storage_of_its_input) {
  const Tensor x = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(OpCase("Reshape").input(x).input(i64({1}, {4})).run()[0].bytes(), x.bytes());
}

TEST(Reshape, refuses_targets_that_do_not_fit) {
  const Tensor x = Tensor::zeros(DType::f32, {2, 3});
  for (const Tensor& target : {i64({2}, {4, -1}), i64({2}, {-1, -1}), i64({1}, {7}), i64({3}, {2, 3, 0}),
                               i64({2}, {-2, 3}), i64({2}, {INT64_MAX, INT64_MAX}), i64({2, 1}, {2, 3})})
    EXPECT_THROW(OpCase("Reshape").input(x).input(target).run(), UserError);
}

TEST(Squeeze, removes_ones_by_attribute_and_by_input) {
  const Tensor x = Tensor::zeros(DType::f32, {1, 3, 1});
  EXPECT_EQ(OpCase("Squeeze", 11).input(x).attr("axes", std::vector<int64_t>{-1}).run()[0].dims(), (Dims{1, 3}));
  EXPECT_EQ(OpCase("Squeeze").input(x).input(i64({1}, {0})).run()[0].dims(), (Dims{3, 1}));
  EXPECT_EQ(OpCase("Squeeze").input(x).run()[0].dims(), Dims{3});
  EXPECT_THROW(OpCase("Squeeze").input(x).input(i64({1}, {1})).run(), UserError);
  EXPECT_THROW(OpCase("Squeeze").input(x).input(i64({2}, {0, -3})).run(), UserError);
}

TEST(Unsqueeze, counts_axes_in_the_result) {
  const Tensor x = Tensor::zeros(DType::f32, {3, 4});
  EXPECT_EQ(OpCase("Unsqueeze").input(x).input(i64({2}, {-1, 0})).run()[0].dims(), (Dims{1, 3, 4, 1}));
  EXPECT_THROW(OpCase("Unsqueeze").input(x).input(i64({1}, {3})).run(), UserError);
}

TEST(Dropout, is_the_identity_in_inference) {
  const Tensor x = f32({3}, {1, 2, 3});
  const auto out = OpCase("Dropout").input(x).outputs(2).run();
  expect_near(out[0], x);
  EXPECT_EQ(out[1].dtype(), DType::boolean);
  EXPECT_EQ(OpCase("Dropout", 7).input(x).outputs(2).run()[1].dtype(), DType::f32);
}

TEST(Dropout, drops_and_scales_in_training) {
  const Tensor x = f32({4}, {1, 1, 1, 1});
  const Tensor out =
      OpCase("Dropout").input(x).input(f32({}, {0.5f})).input(Tensor::scalar(true)).attr("seed", int64_t{0}).run()[0];
  for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE(out.data<float>()[i] == 0 || out.data<float>()[i] == 2);
}

TEST(ReshapeInference, folds_the_shape_arithmetic_of_exporters) {
  InferCase graph;
  const ValueId x = graph.input("x", DType::f32, Shape{N, S, 768});
  const ValueId shape = graph.op("Shape", {x});
  const ValueId batch = graph.op("Unsqueeze", {graph.op("Gather", {shape, graph.scalar(0)}), graph.constant({0})});
  const ValueId length = graph.op("Unsqueeze", {graph.op("Gather", {shape, graph.scalar(-2)}), graph.constant({0})});
  const ValueId target =
      graph.op("Concat", {batch, length, graph.constant({12}), graph.constant({-1})}, {{"axis", int64_t{0}}});
  EXPECT_EQ(graph.content(target), "N,S,12,-1");
  EXPECT_EQ(graph.shape(graph.op("Reshape", {x, target})), "NxSx12x64");
}

TEST(ReshapeInference, divides_symbolic_element_counts) {
  InferCase graph;
  const ValueId x = graph.input("x", DType::f32, Shape{N, 3, 4});
  EXPECT_EQ(graph.shape(graph.op("Reshape", {x, graph.constant({-1, 12})})), "Nx12");
  EXPECT_EQ(graph.shape(graph.op("Reshape", {x, graph.constant({0, -1})})), "Nx12");
  EXPECT_EQ(graph.shape(graph.op("Reshape", {x, graph.constant({-1})})), "12*N");
  EXPECT_EQ(graph.shape(graph.op("Flatten", {x})), "Nx12");
}

TEST(ReshapeInference, gives_the_only_open_dim_from_the_rest) {
  InferCase graph;
  const ValueId x = graph.input("x", DType::f32, Shape{N, 3, 4});
  const ValueId unknown = graph.input("u", DType::i64, Shape{1});
  const ValueId target = graph.op("Concat", {unknown, graph.constant({6})}, {{"axis", int64_t{0}}});
  EXPECT_EQ(graph.content(target), "?,6");
  EXPECT_EQ(graph.shape(graph.op("Reshape", {x, target})), "2*Nx6");
}

TEST(ReshapeInference, copies_unknown_dims_through_zeros) {
  InferCase graph;
  const ValueId x = graph.input("x", DType::f32, Shape{Dim::unknown(), N + S, 8});
  EXPECT_EQ(graph.shape(graph.op("Reshape", {x, graph.constant({0, 0, 2, -1})})), "?xN+Sx2x4");
}

TEST(ViewInference, keeps_quiet_about_unknown_ranks) {
  InferCase graph;
  const ValueId x = graph.input("x", DType::f32, std::nullopt);
  const ValueId ints = graph.input("i", DType::i64, std::nullopt);
  EXPECT_EQ(graph.shape(graph.op("Shape", {x})), "?");
  EXPECT_EQ(graph.shape(graph.op("Flatten", {x})), "?x?");
  EXPECT_EQ(graph.shape(graph.op("Reshape", {x, graph.constant({0, -1, 5})})), "?x?x5");
  for (const char* op : {"Reshape", "Squeeze", "Unsqueeze", "Expand", "Tile", "Pad"})
    EXPECT_EQ(graph.shape(graph.op(op, {x, ints})), "?");
}

}  // namespace
}  // namespace attune::test
