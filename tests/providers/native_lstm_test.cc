// The native LSTM against the reference, for every instruction set of loops that this machine runs through the
// provider.
#include "base/parallel.h"
#include "providers/provider_case.h"

#include <gtest/gtest.h>

namespace attune::testing {
namespace {

struct LstmShape {
  int64_t steps, batch, inputs, hidden;
};

Workload lstm(const LstmShape& s, const std::string& direction, bool bias, bool states) {
  const int64_t d = direction == "bidirectional" ? 2 : 1;
  std::vector<std::optional<TensorSpec>> inputs = {operand({s.steps, s.batch, s.inputs}),
                                                   constant({d, 4 * s.hidden, s.inputs}),
                                                   constant({d, 4 * s.hidden, s.hidden})};
  inputs.push_back(bias ? std::optional(constant({d, 8 * s.hidden})) : std::nullopt);
  if (states) {
    inputs.push_back(std::nullopt);
    inputs.push_back(operand({d, s.batch, s.hidden}));
    inputs.push_back(operand({d, s.batch, s.hidden}));
  }
  return make_case("", "LSTM", 17, std::move(inputs), {{"direction", direction}, {"hidden_size", s.hidden}});
}

TEST(NativeLstm, agrees_with_the_reference) {
  // Few steps where there are many units: with weights of this size longer ones are chaotic. One step; odd sizes; more
  // rows than a tile and than a chunk; units that fill no vector, one, and several.
  const LstmShape shapes[] = {{1, 1, 3, 5},    {7, 1, 13, 16}, {5, 3, 16, 17},  {4, 13, 7, 33},
                              {101, 2, 8, 31}, {2, 97, 5, 16}, {3, 1, 128, 256}};
  for (const LstmShape& shape : shapes)
    for (const char* direction : {"forward", "reverse", "bidirectional"})
      for (const bool full : {false, true})
        EXPECT_GT(check_every_config("native", lstm(shape, direction, full, full)), 0) << direction;
}

TEST(NativeLstm, agrees_whatever_the_number_of_threads) {
  const int before = thread_count();
  for (const int threads : {1, 3, 4}) {
    set_thread_count(threads);
    EXPECT_GT(check_every_config("native", lstm({9, 2, 24, 70}, "bidirectional", true, true)), 0);
  }
  set_thread_count(before);
}

TEST(NativeLstm, refuses_with_a_reason) {
  Workload workload = lstm({3, 1, 4, 8}, "forward", true, false);
  workload.inputs[1]->constant = false;
  EXPECT_NE(refusal("native", workload).find("not constant"), std::string::npos);
  workload = lstm({3, 1, 4, 8}, "forward", true, false);
  workload.attributes["clip"] = 1.0F;
  EXPECT_NE(refusal("native", workload).find("clip"), std::string::npos);
}

}  // namespace
}  // namespace attune::testing
