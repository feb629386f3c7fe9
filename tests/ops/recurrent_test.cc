#include "ops/op_case.h"

namespace attune::test {
namespace {

const Attribute kRelu = std::vector<std::string>{"Relu"};

TEST(Rnn, adds_input_recurrence_and_both_biases) {
  // h1 = 2*1 + 3*1 + (0.5 + 0.25) = 5.75, h2 = 2*2 + 3*5.75 + 0.75 = 22
  const auto out = OpCase("RNN")
                       .input(f32({2, 1, 1}, {1, 2}))
                       .input(f32({1, 1, 1}, {2}))
                       .input(f32({1, 1, 1}, {3}))
                       .input(f32({1, 2}, {0.5, 0.25}))
                       .no_input()
                       .input(f32({1, 1, 1}, {1}))
                       .attr("hidden_size", int64_t{1})
                       .attr("activations", kRelu)
                       .outputs(2)
                       .run();
  expect_near(out[0], f32({2, 1, 1, 1}, {5.75, 22}));
  expect_near(out[1], f32({1, 1, 1}, {22}));
}

TEST(Rnn, reads_a_short_sequence_backwards_from_its_own_end) {
  const auto out = OpCase("RNN")
                       .input(f32({3, 2, 1}, {1, 10, 2, 20, 3, 30}))
                       .input(f32({1, 1, 1}, {1}))
                       .input(f32({1, 1, 1}, {1}))
                       .no_input()
                       .input(Tensor::from<int32_t>({2}, std::vector<int32_t>{3, 2}))
                       .attr("activations", kRelu)
                       .attr("direction", std::string("reverse"))
                       .outputs(2)
                       .run();
  expect_near(out[0], f32({3, 1, 2, 1}, {6, 30, 5, 20, 3, 0}));
  expect_near(out[1], f32({1, 2, 1}, {6, 30}));
}

TEST(Rnn, batch_first_layout_moves_the_batch_to_the_front_of_all_tensors) {
  const auto out = OpCase("RNN")
                       .input(f32({2, 3, 1}, {1, 2, 3, 10, 20, 30}))
                       .input(f32({2, 1, 1}, {1, 1}))
                       .input(f32({2, 1, 1}, {1, 1}))
                       .attr("activations", std::vector<std::string>{"Relu", "Affine"})
                       .attr("activation_alpha", std::vector<float>{1})
                       .attr("activation_beta", std::vector<float>{0})
                       .attr("direction", std::string("bidirectional"))
                       .attr("layout", int64_t{1})
                       .outputs(2)
                       .run();
  expect_near(out[0], f32({2, 3, 2, 1}, {1, 6, 3, 5, 6, 3, 10, 60, 30, 50, 60, 30}));
  expect_near(out[1], f32({2, 2, 1}, {6, 6, 60, 60}));
}

TEST(Gru, can_apply_the_reset_gate_after_the_recurrence) {
  // Affine gates that are constants: z = 0.25, r = 0.5; candidate with Relu.
  const auto run = [](int64_t linear) {
    return OpCase("GRU")
        .input(f32({1, 1, 1}, {1}))
        .input(f32({1, 3, 1}, {0, 0, 1}))
        .input(f32({1, 3, 1}, {0, 0, 4}))
        .input(f32({1, 6}, {0.25, 0.5, 0, 0, 0, 2}))
        .no_input()
        .input(f32({1, 1, 1}, {1}))
        .attr("activations", std::vector<std::string>{"Affine", "Relu"})
        .attr("linear_before_reset", linear)
        .outputs(2)
        .run()[1];
  };
  expect_near(run(0), f32({1, 1, 1}, {0.75f * (1 + 4 * 0.5f + 2) + 0.25f}));
  expect_near(run(1), f32({1, 1, 1}, {0.75f * (1 + 0.5f * (4 + 2)) + 0.25f}));
}

TEST(Lstm, uses_peepholes_of_the_old_cell_for_input_and_forget_and_of_the_new_cell_for_output) {
  const auto out = OpCase("LSTM")
                       .input(f32({1, 1, 1}, {1}))
                       .input(f32({1, 4, 1}, {1, 2, 3, 4}))
                       .input(f32({1, 4, 1}, {0, 0, 0, 0}))
                       .no_input()
                       .no_input()
                       .no_input()
                       .input(f32({1, 1, 1}, {2}))
                       .input(f32({1, 3}, {10, 20, 30}))
                       .attr("activations", std::vector<std::string>{"Relu", "Relu", "Relu"})
                       .outputs(3)
                       .run();
  const float i = 1 + 10 * 2, f = 3 + 30 * 2, c = f * 2 + i * 4, o = 2 + 20 * c;
  expect_near(out[2], f32({1, 1, 1}, {c}));
  expect_near(out[1], f32({1, 1, 1}, {o * c}));
}

TEST(Lstm, clips_the_input_of_the_gates) {
  const auto out = OpCase("LSTM")
                       .input(f32({1, 1, 1}, {1}))
                       .input(f32({1, 4, 1}, {9, 9, 9, 9}))
                       .input(f32({1, 4, 1}, {0, 0, 0, 0}))
                       .attr("activations", std::vector<std::string>{"Relu", "Relu", "Relu"})
                       .attr("clip", 2.0f)
                       .outputs(3)
                       .run();
  expect_near(out[2], f32({1, 1, 1}, {4}));
  expect_near(out[1], f32({1, 1, 1}, {8}));
}

TEST(Lstm, refuses_weights_of_another_size_and_unknown_functions) {
  const auto lstm = [](Dims w, const char* function) {
    return OpCase("LSTM")
        .input(Tensor::zeros(DType::f32, {1, 1, 2}))
        .input(Tensor::zeros(DType::f32, std::move(w)))
        .input(Tensor::zeros(DType::f32, {1, 12, 3}))
        .attr("activations", std::vector<std::string>{function, "Tanh", "Tanh"})
        .run();
  };
  EXPECT_NO_THROW(lstm({1, 12, 2}, "sigmoid"));
  EXPECT_THROW(lstm({1, 12, 3}, "Sigmoid"), UserError);
  EXPECT_THROW(lstm({1, 12, 2}, "Sigmoidal"), UserError);
}

}  // namespace
}  // namespace attune::test
