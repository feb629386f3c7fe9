#include "ops/op_case.h"

namespace attune::test {
namespace {

OpCase contrib(const char* op) { return OpCase(op, 1, "com.microsoft"); }

TEST(SkipLayerNormalization, normalises_the_sum_and_returns_it) {
  const auto out = contrib("SkipLayerNormalization")
                       .input(f32({1, 1, 2}, {1, 2}))
                       .input(f32({1, 1, 2}, {1, 3}))
                       .input(f32({2}, {2, 2}))
                       .input(f32({2}, {1, 1}))
                       .input(f32({2}, {0, 1}))
                       .outputs(4)
                       .run();
  expect_near(out[0], f32({1, 1, 2}, {-1, 3}));
  expect_near(out[1], f32({1, 1, 1}, {4}));
  expect_near(out[3], f32({1, 1, 2}, {2, 6}));
}

TEST(SkipSimplifiedLayerNormalization, divides_by_the_root_mean_square) {
  const auto out = contrib("SkipSimplifiedLayerNormalization")
                       .input(f32({1, 2}, {1, 3}))
                       .input(f32({1, 2}, {0, 4}))
                       .input(f32({2}, {5, 5}))
                       .run();
  expect_near(out[0], f32({1, 2}, {1, 7}));
}

TEST(EmbedLayerNormalization, refuses_words_outside_of_the_table) {
  const auto embed = [](int64_t word) {
    return contrib("EmbedLayerNormalization")
        .input(i64({1, 1}, {word}))
        .no_input()
        .input(f32({2, 2}, {0, 0, 1, 3}))
        .input(f32({1, 2}, {0, 0}))
        .no_input()
        .input(f32({2}, {1, 1}))
        .input(f32({2}, {0, 0}))
        .run()[0];
  };
  expect_near(embed(1), f32({1, 1, 2}, {-1, 1}));
  EXPECT_THROW(embed(2), UserError);
}

TEST(MatMulNBits, expands_four_bit_weights_with_scale_and_zero_point) {
  // One row of 16 weights: 0x98 holds 8 (the zero point) and 9.
  std::vector<uint8_t> weights(8, 0x88);
  weights[0] = 0x98;
  const auto product = [&](OpCase op) {
    return op.attr("K", int64_t{16}).attr("N", int64_t{1}).attr("block_size", int64_t{16}).run()[0];
  };
  OpCase op = contrib("MatMulNBits");
  op.input(f32({1, 16}, {1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  op.input(Tensor::from<uint8_t>({1, 1, 8}, weights));
  op.input(f32({1}, {0.5}));
  expect_near(product(op), f32({1, 1}, {1}));
  op.input(Tensor::from<uint8_t>({1}, std::array<uint8_t, 1>{7}));
  expect_near(product(op), f32({1, 1}, {0.5f * (1 + 2 * 2)}));
}

TEST(MultiHeadAttention, reads_packed_queries_keys_and_values) {
  // One head of one element; two tokens of (q, k, v) with equal keys.
  const auto out =
      contrib("MultiHeadAttention").input(f32({1, 2, 1, 3, 1}, {0, 1, 2, 0, 1, 4})).attr("num_heads", int64_t{1}).run();
  expect_near(out[0], f32({1, 2, 1}, {3, 3}));
}

TEST(GroupQueryAttention, refuses_lengths_beyond_the_cache) {
  OpCase op = contrib("GroupQueryAttention");
  for (int i = 0; i < 3; ++i) op.input(Tensor::zeros(DType::f32, {1, 1, 2}));
  for (int i = 0; i < 2; ++i) op.input(Tensor::zeros(DType::f32, {1, 1, 2, 2}));
  op.input(Tensor::from<int32_t>({1}, std::array<int32_t, 1>{5}));
  op.input(Tensor::scalar<int32_t>(6));
  op.attr("num_heads", int64_t{1}).attr("kv_num_heads", int64_t{1});
  EXPECT_THROW(op.run(), UserError);
}

TEST(GroupQueryAttention, writes_new_rows_behind_what_the_cache_holds) {
  const auto out = contrib("GroupQueryAttention")
                       .input(f32({1, 1, 1}, {0}))
                       .input(f32({1, 1, 1}, {7}))
                       .input(f32({1, 1, 1}, {3}))
                       .input(f32({1, 1, 3, 1}, {5, 9, 9}))
                       .input(f32({1, 1, 3, 1}, {1, 9, 9}))
                       .input(Tensor::from<int32_t>({1}, std::array<int32_t, 1>{1}))
                       .input(Tensor::scalar<int32_t>(2))
                       .attr("num_heads", int64_t{1})
                       .attr("kv_num_heads", int64_t{1})
                       .outputs(3)
                       .run();
  expect_near(out[0], f32({1, 1, 1}, {2}));
  expect_near(out[1], f32({1, 1, 3, 1}, {5, 7, 0}));
}

}  // namespace
}  // namespace attune::test
