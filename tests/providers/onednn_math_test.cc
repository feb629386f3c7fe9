// oneDNN's products, normalisations and elementwise functions against the reference, every implementation of each.
#include "ops/epilogue.h"
#include "providers/provider_case.h"

#include <gtest/gtest.h>

namespace attune::testing {
namespace {

using Ints = std::vector<int64_t>;
using Kind = EpilogueStep::Kind;

constexpr Layout kLayouts[] = {Layout::plain, Layout::nhwc, Layout::nchw8c, Layout::nchw16c};

class OnednnMath : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_provider("onednn")) GTEST_SKIP() << "built without oneDNN";
  }
};

TEST_F(OnednnMath, products_agree_for_every_rank_and_batch) {
  const std::pair<Dims, Dims> shapes[] = {{{5, 7}, {7, 3}},
                                          {{1, 64}, {64, 1000}},
                                          {{17, 1}, {1, 13}},
                                          {{2, 5, 7}, {7, 3}},
                                          {{2, 5, 7}, {2, 7, 3}},
                                          {{7}, {7, 3}},
                                          {{5, 7}, {7}},
                                          {{7}, {7}},
                                          {{3, 1, 5, 7}, {1, 2, 7, 4}},
                                          {{2, 12, 16, 8}, {2, 12, 8, 16}},
                                          {{128, 768}, {768, 96}},
                                          {{1, 1}, {1, 1}}};
  for (const auto& [a, b] : shapes) {
    EXPECT_GT(check_every_config("onednn", make_case("", "MatMul", 17, {operand(a), constant(b)}, {})), 0)
        << to_text(a);
    EXPECT_GT(check_every_config("onednn", make_case("", "MatMul", 17, {operand(a), operand(b)}, {})), 0) << to_text(a);
  }
}

TEST_F(OnednnMath, products_agree_with_epilogues) {
  const auto fused = [](Dims a, Dims b, std::vector<std::optional<TensorSpec>> operands,
                        const std::vector<EpilogueStep>& steps) {
    std::vector<std::optional<TensorSpec>> inputs = {operand(std::move(a)), constant(std::move(b))};
    inputs.insert(inputs.end(), operands.begin(), operands.end());
    return make_case("attune", "FusedMatMul", 1, inputs, {{"epilogue", epilogue_attribute(steps)}});
  };
  EXPECT_GT(
      check_every_config("onednn", fused({4, 9, 33}, {33, 17}, {constant({17})}, {{Kind::add, 2}, {Kind::gelu_erf}})),
      0);
  EXPECT_GT(check_every_config("onednn", fused({4, 33}, {33, 17}, {constant({17}), operand({4, 17})},
                                               {{Kind::add, 2}, {Kind::add, 3}, {Kind::relu}})),
            0);
  EXPECT_GT(check_every_config("onednn", fused({4, 33}, {33, 17}, {constant({})}, {{Kind::mul, 2}})), 0);
  EXPECT_GT(check_every_config("onednn", fused({3, 5, 8}, {8, 6}, {operand({3, 5, 6})}, {{Kind::add, 2}})), 0);
}

TEST_F(OnednnMath, softmax_agrees_along_any_axis_and_in_its_old_meaning) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    for (const int64_t axis : {-1, 0, 1})
      EXPECT_GT(check_every_config("onednn", make_case("", op, 17, {operand({3, 5, 31})}, {{"axis", axis}})), 0);
    EXPECT_GT(check_every_config("onednn", make_case("", op, 11, {operand({3, 5, 31})}, {{"axis", int64_t{1}}})), 0);
  }
}

TEST_F(OnednnMath, layer_norm_agrees_with_and_without_bias) {
  EXPECT_GT(
      check_every_config("onednn", make_case("", "LayerNormalization", 17, {operand({3, 5, 31}), constant({31})}, {})),
      0);
  EXPECT_GT(check_every_config(
                "onednn", make_case("", "LayerNormalization", 17, {operand({3, 5, 32}), constant({32}), constant({32})},
                                    {{"epsilon", 1e-3f}})),
            0);
  EXPECT_GT(check_every_config(
                "onednn", make_case("", "LayerNormalization", 17,
                                    {operand({3, 5, 4}), constant({5, 4}), constant({5, 4})}, {{"axis", int64_t{1}}})),
            0);
}

TEST_F(OnednnMath, elementwise_functions_agree_in_every_layout) {
  const std::pair<const char*, int> functions[] = {{"Relu", 17}, {"LeakyRelu", 17}, {"Elu", 17},       {"Sigmoid", 17},
                                                   {"Tanh", 17}, {"Swish", 24},     {"HardSwish", 17}, {"Mish", 18},
                                                   {"Gelu", 20}, {"Exp", 17},       {"Abs", 17}};
  for (const auto& [op, version] : functions)
    for (const Layout layout : kLayouts)
      EXPECT_GT(check_every_config("onednn", make_case("", op, version, {operand({2, 19, 3, 5}, layout)}, {}, layout)),
                0)
          << op;
}

TEST_F(OnednnMath, binary_functions_agree_and_broadcast_one_operand) {
  for (const char* op : {"Add", "Sub", "Mul", "Max", "Min"}) {
    for (const Layout layout : kLayouts) {
      const TensorSpec whole = operand({2, 19, 3, 5}, layout);
      EXPECT_GT(check_every_config("onednn", make_case("", op, 17, {whole, whole}, {}, layout)), 0) << op;
    }
    EXPECT_GT(check_every_config("onednn", make_case("", op, 17, {operand({2, 19, 3, 5}), operand({19, 1, 1})}, {})), 0)
        << op;
    EXPECT_GT(check_every_config("onednn", make_case("", op, 17, {operand({7, 3}), operand({})}, {})), 0) << op;
  }
  EXPECT_NE(refusal("onednn", make_case("", "Sub", 17, {operand({3}), operand({2, 3})}, {})), "");
}

TEST_F(OnednnMath, concat_agrees_in_every_layout) {
  for (const Layout layout : kLayouts)
    check_every_config("onednn",
                       make_case("", "Concat", 17, {operand({2, 16, 3, 5}, layout), operand({2, 32, 3, 5}, layout)},
                                 {{"axis", int64_t{1}}}, layout));
  EXPECT_GT(
      check_every_config("onednn", make_case("", "Concat", 17, {operand({2, 3}), operand({2, 7}), operand({2, 1})},
                                             {{"axis", int64_t{-1}}})),
      0);
}

TEST_F(OnednnMath, lstm_agrees_in_every_direction_and_batch) {
  constexpr int64_t kHidden = 12, kInputs = 9;
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    const int64_t directions = std::string(direction) == "bidirectional" ? 2 : 1;
    for (const int64_t batch : {1, 3}) {
      const auto inputs = [&](bool with_bias, bool with_state) {
        std::vector<std::optional<TensorSpec>> list = {operand({5, batch, kInputs}),
                                                       constant({directions, 4 * kHidden, kInputs}),
                                                       constant({directions, 4 * kHidden, kHidden})};
        list.push_back(with_bias ? std::optional(constant({directions, 8 * kHidden})) : std::nullopt);
        if (with_state) {
          list.emplace_back();
          list.push_back(operand({directions, batch, kHidden}));
          list.push_back(operand({directions, batch, kHidden}));
        }
        return list;
      };
      const Attributes attributes = {{"direction", std::string(direction)}, {"hidden_size", kHidden}};
      EXPECT_GT(check_every_config("onednn", make_case("", "LSTM", 17, inputs(true, false), attributes)), 0)
          << direction << batch;
      EXPECT_GT(check_every_config("onednn", make_case("", "LSTM", 17, inputs(true, true), attributes)), 0)
          << direction << batch;
    }
  }
}

}  // namespace
}  // namespace attune::testing
