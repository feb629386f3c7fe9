#include "ops/op_case.h"

#include <limits>

namespace attune::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// One head whose keys are all alike, so that every visible value has the same weight.
OpCase uniform_attention(int64_t queries, int version = 25) {
  OpCase op("Attention", version);
  op.input(Tensor::zeros(DType::f32, {1, 1, queries, 1}));
  op.input(Tensor::zeros(DType::f32, {1, 1, 4, 1}));
  op.input(f32({1, 1, 4, 1}, {1, 2, 4, 8}));
  return op;
}

TEST(Attention, averages_the_values_of_keys_that_score_alike) {
  expect_near(uniform_attention(1).run()[0], f32({1, 1, 1, 1}, {3.75}));
}

TEST(Attention, a_causal_query_sees_no_later_key) {
  const auto out = uniform_attention(3).attr("is_causal", int64_t{1}).run();
  expect_near(out[0], f32({1, 1, 3, 1}, {1, 1.5, 7.0f / 3}));
}

TEST(Attention, a_window_limits_both_sides) {
  const auto out =
      uniform_attention(4).attr("left_window_size", int64_t{1}).attr("right_window_size", int64_t{0}).run();
  expect_near(out[0], f32({1, 1, 4, 1}, {1, 1.5, 3, 6}));
}

TEST(Attention, a_query_without_keys_gives_zeros) {
  const auto out =
      uniform_attention(2)
          .input(Tensor::from<bool>({2, 4}, std::array{false, false, false, false, true, true, false, false}))
          .run();
  expect_near(out[0], f32({1, 1, 2, 1}, {0, 1.5}));
}

TEST(Attention, a_short_mask_hides_the_keys_it_does_not_reach) {
  const auto out = uniform_attention(1).input(f32({1, 2}, {0, -kInfinity})).run();
  expect_near(out[0], f32({1, 1, 1, 1}, {1}));
}

TEST(Attention, counts_padding_from_the_end_of_an_external_cache) {
  const auto out = uniform_attention(1).no_input().no_input().no_input().input(i64({1}, {3})).run();
  expect_near(out[0], f32({1, 1, 1, 1}, {7.0f / 3}));
  EXPECT_THROW(uniform_attention(1).no_input().no_input().no_input().input(i64({1}, {5})).run(), UserError);
}

TEST(Attention, puts_the_cache_before_the_new_keys_and_returns_both) {
  // Two heads packed into rows of two.
  const auto out = OpCase("Attention", 23)
                       .input(Tensor::zeros(DType::f32, {1, 1, 2}))
                       .input(f32({1, 1, 2}, {5, 6}))
                       .input(f32({1, 1, 2}, {3, 4}))
                       .no_input()
                       .input(f32({1, 2, 1, 1}, {7, 8}))
                       .input(f32({1, 2, 1, 1}, {1, 2}))
                       .attr("q_num_heads", int64_t{2})
                       .attr("kv_num_heads", int64_t{2})
                       .outputs(3)
                       .run();
  expect_near(out[0], f32({1, 1, 2}, {2, 3}));
  expect_near(out[1], f32({1, 2, 2, 1}, {7, 5, 8, 6}));
  expect_near(out[2], f32({1, 2, 2, 1}, {1, 3, 2, 4}));
}

TEST(Attention, refuses_heads_that_cannot_be_shared) {
  OpCase op("Attention", 23);
  op.input(Tensor::zeros(DType::f32, {1, 3, 1, 2}));
  op.input(Tensor::zeros(DType::f32, {1, 2, 1, 2}));
  op.input(Tensor::zeros(DType::f32, {1, 2, 1, 2}));
  EXPECT_THROW(op.run(), UserError);
}

TEST(RotaryEmbedding, turns_pairs_by_the_angle_of_their_position) {
  const auto rotate = [](int64_t interleaved, int64_t position) {
    return OpCase("RotaryEmbedding", 23)
        .input(f32({1, 1, 1, 4}, {1, 2, 3, 4}))
        .input(f32({2, 2}, {1, 1, 0, 0}))
        .input(f32({2, 2}, {0, 0, 1, 1}))
        .input(i64({1, 1}, {position}))
        .attr("interleaved", interleaved)
        .run()[0];
  };
  expect_near(rotate(0, 0), f32({1, 1, 1, 4}, {1, 2, 3, 4}));
  expect_near(rotate(0, 1), f32({1, 1, 1, 4}, {-3, -4, 1, 2}));
  expect_near(rotate(1, 1), f32({1, 1, 1, 4}, {-2, 1, -4, 3}));
  EXPECT_THROW(rotate(0, 2), UserError);
}

TEST(LinearAttention, keeps_a_state_from_token_to_token) {
  const auto out = OpCase("LinearAttention", 27)
                       .input(f32({1, 2, 1}, {1, 2}))
                       .input(f32({1, 2, 1}, {3, 4}))
                       .input(f32({1, 2, 1}, {5, 6}))
                       .attr("q_num_heads", int64_t{1})
                       .attr("kv_num_heads", int64_t{1})
                       .attr("update_rule", std::string("linear"))
                       .outputs(2)
                       .run();
  expect_near(out[0], f32({1, 2, 1}, {15, 78}));
  expect_near(out[1], f32({1, 1, 1, 1}, {39}));
}

TEST(LinearAttention, refuses_a_rule_whose_gate_is_missing) {
  OpCase op("LinearAttention", 27);
  for (int i = 0; i < 3; ++i) op.input(Tensor::zeros(DType::f32, {1, 2, 1}));
  op.attr("q_num_heads", int64_t{1}).attr("kv_num_heads", int64_t{1}).attr("update_rule", std::string("gated"));
  EXPECT_THROW(op.run(), UserError);
}

TEST(FlexAttention, passes_scores_through_the_subgraph) {
  auto graph = std::make_shared<Graph>();
  graph->outputs.push_back(graph->add_input("scores", DType::f32, std::nullopt));
  graph->inputs = graph->outputs;
  RunNodeOptions options;
  options.run_subgraph = [](const Graph&, std::span<const Tensor> in) {
    Tensor out = in[0].clone();  // hides the first key
    for (int64_t i = 0; i < out.count(); i += out.dim(3)) out.mutable_data<float>()[i] = -kInfinity;
    return std::vector{out};
  };
  const auto out = OpCase("FlexAttention", 1, "ai.onnx.preview")
                       .input(Tensor::zeros(DType::f32, {1, 2, 1, 3}))
                       .input(Tensor::zeros(DType::f32, {1, 1, 3, 3}))
                       .input(f32({1, 1, 3, 1}, {1, 2, 4}))
                       .attr("score_mod", graph)
                       .run(options);
  expect_near(out[0], f32({1, 2, 1, 1}, {3, 3}));
}

}  // namespace
}  // namespace attune::test
