// oneDNN's GRU and RNN against the reference, every implementation of each.
#include "providers/provider_case.h"

#include <gtest/gtest.h>

namespace attune::testing {
namespace {

constexpr int64_t kHidden = 12, kInputs = 9;

class OnednnRecurrent : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_provider("onednn")) GTEST_SKIP() << "built without oneDNN";
  }

  static Workload recurrence(const char* op, int64_t gates, const std::string& direction, int64_t batch, bool bias,
                             bool state, Attributes attributes) {
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    std::vector<std::optional<TensorSpec>> inputs = {operand({5, batch, kInputs}),
                                                     constant({directions, gates * kHidden, kInputs}),
                                                     constant({directions, gates * kHidden, kHidden})};
    inputs.push_back(bias ? std::optional(constant({directions, 2 * gates * kHidden})) : std::nullopt);
    if (state) {
      inputs.emplace_back();
      inputs.push_back(operand({directions, batch, kHidden}));
    }
    attributes["direction"] = direction;
    attributes["hidden_size"] = kHidden;
    return make_case("", op, 14, std::move(inputs), std::move(attributes));
  }
};

TEST_F(OnednnRecurrent, gru_agrees_in_both_forms_and_every_direction) {
  for (const char* direction : {"forward", "reverse", "bidirectional"})
    for (const int64_t batch : {1, 3})
      for (const int64_t behind : {0, 1})
        for (const bool bias : {false, true})
          for (const bool state : {false, true}) {
            const Workload workload =
                recurrence("GRU", 3, direction, batch, bias, state, {{"linear_before_reset", behind}});
            EXPECT_GT(check_every_config("onednn", workload), 0) << workload.key();
          }
}

TEST_F(OnednnRecurrent, simple_recurrence_agrees_with_every_activation) {
  for (const char* direction : {"forward", "reverse", "bidirectional"})
    for (const int64_t batch : {1, 3})
      for (const char* activation : {"Tanh", "Relu", "Sigmoid"}) {
        const size_t directions = std::string(direction) == "bidirectional" ? 2 : 1;
        const Workload workload = recurrence("RNN", 1, direction, batch, true, true,
                                             {{"activations", std::vector<std::string>(directions, activation)}});
        EXPECT_GT(check_every_config("onednn", workload), 0) << workload.key();
      }
}

TEST_F(OnednnRecurrent, variants_are_refused_in_words) {
  EXPECT_NE(refusal("onednn", recurrence("GRU", 3, "forward", 1, true, false, {{"clip", 3.0F}})).find("clip"),
            std::string::npos);
  EXPECT_NE(refusal("onednn", recurrence("RNN", 1, "forward", 1, true, false,
                                         {{"activations", std::vector<std::string>{"Softsign"}}}))
                .find("activations"),
            std::string::npos);
}

}  // namespace
}  // namespace attune::testing
