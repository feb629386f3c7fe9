#include "ops/op_case.h"

#include "base/error.h"

namespace attune::test {
namespace {

OpCase likelihood(const char* reduction) {
  OpCase op("NegativeLogLikelihoodLoss");
  op.input(f32({3, 2}, {-1, -2, -3, -4, -5, -6})).input(i64({3}, {0, 1, 0})).attr("reduction", std::string(reduction));
  return op;
}

TEST(NegativeLogLikelihoodLoss, reduces_as_asked) {
  expect_near(likelihood("none").run()[0], f32({3}, {1, 4, 5}));
  expect_near(likelihood("sum").run()[0], f32({}, {10}));
  expect_near(likelihood("mean").run()[0], f32({}, {10.0f / 3}));
}

TEST(NegativeLogLikelihoodLoss, averages_over_the_weights_of_labels_that_count) {
  expect_near(likelihood("mean").input(f32({2}, {1, 3})).run()[0], f32({}, {18.0f / 5}));
  expect_near(likelihood("mean").attr("ignore_index", int64_t{0}).run()[0], f32({}, {4}));
}

TEST(NegativeLogLikelihoodLoss, refuses_labels_out_of_range_and_mismatched_shapes) {
  EXPECT_THROW(OpCase("NegativeLogLikelihoodLoss").input(f32({1, 2}, {1, 2})).input(i64({1}, {2})).run(), UserError);
  EXPECT_THROW(OpCase("NegativeLogLikelihoodLoss").input(f32({1, 2}, {1, 2})).input(i64({1}, {-1})).run(), UserError);
  EXPECT_THROW(OpCase("NegativeLogLikelihoodLoss").input(f32({1, 2}, {1, 2})).input(i64({2}, {0, 0})).run(), UserError);
}

TEST(SoftmaxCrossEntropyLoss, also_gives_log_probabilities) {
  const auto outputs =
      OpCase("SoftmaxCrossEntropyLoss").input(f32({1, 2, 1}, {7, 7})).input(i64({1, 1}, {1})).outputs(2).run();
  expect_near(outputs[0], f32({}, {0.693147f}));
  expect_near(outputs[1], f32({1, 2, 1}, {-0.693147f, -0.693147f}));
}

}  // namespace
}  // namespace attune::test
