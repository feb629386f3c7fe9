#include "ops/infer_case.h"
#include "ops/op_case.h"
#include "ops/packed.h"

#include <numeric>

namespace attune::test {
namespace {

const Dim N = sym("N");

Tensor counting(Dims dims) {
  Tensor t = Tensor::allocate(DType::f32, std::move(dims));
  std::iota(t.mutable_data<float>(), t.mutable_data<float>() + t.count(), 0.0f);
  return t;
}

TEST(Transpose, equals_the_element_by_element_definition) {
  // Odd sizes beyond one tile, each kind of permutation.
  const Tensor x = counting({3, 37, 65});
  const Dims strides = row_major_strides(x.dims());
  for (const std::vector<int64_t>& perm :
       std::vector<std::vector<int64_t>>{{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}}) {
    const Tensor y = OpCase("Transpose").input(x).attr("perm", perm).run()[0];
    int64_t position = 0;
    for (int64_t a = 0; a < y.dim(0); ++a)
      for (int64_t b = 0; b < y.dim(1); ++b)
        for (int64_t c = 0; c < y.dim(2); ++c)
          ASSERT_EQ(y.data<float>()[position++],
                    static_cast<float>(a * strides[perm[0]] + b * strides[perm[1]] + c * strides[perm[2]]));
  }
}

TEST(Transpose, refuses_what_is_no_permutation) {
  for (const std::vector<int64_t>& perm : std::vector<std::vector<int64_t>>{{0}, {0, 0}, {0, 2}})
    EXPECT_THROW(OpCase("Transpose").input(counting({2, 3})).attr("perm", perm).run(), UserError);
}

TEST(Transpose, moves_packed_elements) {
  const uint8_t codes[] = {1, 2, 3, 4, 5, 6};
  const Tensor x = pack_bytes(Tensor::from<uint8_t>({2, 3}, codes), DType::u4);
  const Tensor y = unpack_bytes(OpCase("Transpose").input(x).run()[0]);
  EXPECT_EQ(std::vector<uint8_t>(y.data<uint8_t>(), y.data<uint8_t>() + 6), (std::vector<uint8_t>{1, 4, 2, 5, 3, 6}));
}

TEST(Concat, skips_empty_parts) {
  const Tensor y = OpCase("Concat")
                       .input(f32({2, 1}, {1, 2}))
                       .input(f32({2, 0}, {}))
                       .input(f32({2, 2}, {3, 4, 5, 6}))
                       .attr("axis", int64_t{-1})
                       .run()[0];
  expect_near(y, f32({2, 3}, {1, 3, 4, 2, 5, 6}));
  EXPECT_THROW(OpCase("Concat").input(counting({2, 1})).input(counting({3, 1})).attr("axis", int64_t{1}).run(),
               UserError);
}

TEST(Split, makes_the_last_part_smaller) {
  const auto parts = OpCase("Split").input(counting({5})).attr("num_outputs", int64_t{3}).outputs(3).run();
  EXPECT_EQ(parts[0].dims(), Dims{2});
  expect_near(parts[2], f32({1}, {4}));
  EXPECT_THROW(OpCase("Split", 11).input(counting({5})).outputs(3).run(), UserError);
  EXPECT_THROW(OpCase("Split").input(counting({5})).input(i64({2}, {2, 2})).outputs(2).run(), UserError);
}

TEST(Slice, goes_backwards_and_clamps) {
  const Tensor x = counting({5});
  auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return OpCase("Slice")
        .input(x)
        .input(i64({1}, {start}))
        .input(i64({1}, {end}))
        .input(i64({1}, {0}))
        .input(i64({1}, {step}))
        .run()[0];
  };
  expect_near(slice(-1, INT64_MIN, -2), f32({3}, {4, 2, 0}));
  expect_near(slice(3, 100, INT64_MAX), f32({1}, {3}));
  expect_near(slice(100, -100, INT64_MIN), f32({1}, {4}));
  EXPECT_EQ(slice(4, 1, 1).dims(), Dims{0});
  EXPECT_THROW(slice(0, 1, 0), UserError);
}

TEST(Pad, repeats_reflections_beyond_the_input) {
  const Tensor x = f32({3}, {1, 2, 3});
  auto pad = [&](const char* mode) {
    return OpCase("Pad").input(x).input(i64({2}, {5, 2})).attr("mode", std::string(mode)).run()[0];
  };
  expect_near(pad("reflect"), f32({10}, {2, 1, 2, 3, 2, 1, 2, 3, 2, 1}));
  expect_near(pad("wrap"), f32({10}, {2, 3, 1, 2, 3, 1, 2, 3, 1, 2}));
  expect_near(pad("edge"), f32({10}, {1, 1, 1, 1, 1, 1, 2, 3, 3, 3}));
}

TEST(Pad, removes_with_negative_pads) {
  const Tensor y = OpCase("Pad").input(counting({2, 3})).input(i64({4}, {0, -1, 1, 1})).input(f32({}, {9})).run()[0];
  expect_near(y, f32({3, 3}, {1, 2, 9, 4, 5, 9, 9, 9, 9}));
  EXPECT_THROW(OpCase("Pad").input(counting({2})).input(i64({2}, {-2, -1})).run(), UserError);
  EXPECT_THROW(OpCase("Pad").input(counting({2})).input(i64({2}, {INT64_MIN, INT64_MAX})).run(), UserError);
}

TEST(Pad, takes_attributes_before_opset_11) {
  const Tensor y =
      OpCase("Pad", 9).input(counting({2})).attr("pads", std::vector<int64_t>{1, 0}).attr("value", 7.0f).run()[0];
  expect_near(y, f32({3}, {7, 0, 1}));
}

TEST(Expand, broadcasts_both_ways) {
  expect_near(OpCase("Expand").input(f32({2, 1}, {1, 2})).input(i64({1}, {2})).run()[0], f32({2, 2}, {1, 1, 2, 2}));
  EXPECT_THROW(OpCase("Expand").input(counting({2})).input(i64({1}, {3})).run(), UserError);
}

TEST(Tile, refuses_sizes_that_overflow) {
  EXPECT_THROW(OpCase("Tile").input(counting({2})).input(i64({1}, {INT64_MAX})).run(), UserError);
}

TEST(Trilu, takes_any_diagonal) {
  expect_near(OpCase("Trilu").input(counting({2, 2})).input(i64({}, {INT64_MIN})).run()[0], counting({2, 2}));
  expect_near(OpCase("Trilu").input(counting({2, 2})).input(i64({}, {1})).attr("upper", int64_t{0}).run()[0],
              counting({2, 2}));
  expect_near(OpCase("Trilu").input(counting({2, 2})).input(i64({}, {1})).run()[0], f32({2, 2}, {0, 1, 0, 0}));
}

TEST(MovementOps, accept_empty_tensors_with_dims_too_large_to_multiply) {
  const Tensor x = Tensor::zeros(DType::f32, {0, int64_t{1} << 62, 8});
  EXPECT_EQ(OpCase("Transpose").input(x).run()[0].count(), 0);
  EXPECT_EQ(OpCase("Slice").input(x).input(i64({1}, {5})).input(i64({1}, {7})).input(i64({1}, {1})).run()[0].dim(1), 2);
  EXPECT_EQ(OpCase("Split").input(x).attr("axis", int64_t{2}).outputs(2).run()[1].dim(2), 4);
}

TEST(SliceInference, understands_symbolic_dims) {
  InferCase graph;
  const ValueId x = graph.input("x", DType::f32, Shape{N, 512});
  auto slice = [&](int64_t start, int64_t end, int64_t axis, int64_t step) {
    return graph.shape(graph.op(
        "Slice", {x, graph.constant({start}), graph.constant({end}), graph.constant({axis}), graph.constant({step})}));
  };
  EXPECT_EQ(slice(0, INT64_MAX, 0, 1), "Nx512");
  EXPECT_EQ(slice(1, INT32_MAX, 0, 1), "N-1x512");
  EXPECT_EQ(slice(0, -1, 0, 1), "N-1x512");
  EXPECT_EQ(slice(-2, INT64_MAX, 0, 1), "2x512");
  EXPECT_EQ(slice(0, 1, 0, 1), "1x512");
  EXPECT_EQ(slice(-1, INT64_MIN, 0, -1), "Nx512");
  const ValueId batch = graph.op("Slice", {graph.op("Shape", {x}), graph.constant({0}), graph.constant({1})});
  EXPECT_EQ(graph.content(batch), "N");
  EXPECT_EQ(graph.shape(graph.op("Slice", {x, graph.constant({0}), batch, graph.constant({1})})), "NxN");
}

TEST(MovementInference, carries_contents) {
  InferCase graph;
  const ValueId shape = graph.op("Shape", {graph.input("x", DType::f32, Shape{N, 3, 8})});
  const std::vector<ValueId> parts = graph.ops("Split", {shape, graph.constant({1, 2})}, 2);
  EXPECT_EQ(graph.content(parts[1]), "3,8");
  EXPECT_EQ(graph.content(graph.op("Tile", {parts[0], graph.constant({2})})), "N,N");
  EXPECT_EQ(graph.content(graph.op("Expand", {parts[0], graph.constant({3})})), "N,N,N");
  EXPECT_EQ(graph.content(graph.op("Transpose", {shape})), "N,3,8");
  EXPECT_EQ(graph.content(graph.op("Pad", {shape, graph.constant({0, 1}), graph.scalar(1)})), "N,3,8,1");
  EXPECT_EQ(graph.shape(graph.op("Expand", {graph.input("y", DType::f32, Shape{1, 8}), shape})), "Nx3x8");
  EXPECT_EQ(graph.shape(graph.op("Tile", {graph.input("z", DType::f32, Shape{1, 2, 1}), shape})), "Nx6x8");
}

}  // namespace
}  // namespace attune::test
