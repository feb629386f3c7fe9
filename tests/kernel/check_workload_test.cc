#include "kernel/check_workload.h"

#include "base/error.h"
#include "kernel/parse_workload.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

/// What is said of a workload; nothing when it is whole.
std::string problem_of(const std::string& text) {
  try {
    check_workload(parse_workload(text));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void expect_problem(const std::string& text, const std::string& words) {
  const std::string problem = problem_of(text);
  EXPECT_NE(problem.find(words), std::string::npos) << text << "\n  " << problem;
}

TEST(CheckWorkload, accepts_what_planning_makes) {
  for (const std::string text : {
           "MatMul@13(f32[3x4], f32[4x5]*) -> (f32[3x5]) {}",
           "LSTM@14(f32[5x3x9], f32[1x48x9]*, f32[1x48x12]*) -> (f32[5x1x3x12]) {hidden_size=12}",
           "NonZero@13(f32[3x4]) -> (i64[2x7]) {}",  // which the data decide
           "attune::Reorder@1(f32[1x20x9x9]) -> (f32[1x20x9x9]@nchw16c) {}",
           "attune::ConvGradData@1(f32[1x32x9x9], f32[32x16x3x3]*) -> (f32[1x16x9x9]) {pads=[1, 1, 1, 1]}",
           "attune::ConvGradWeights@1(f32[1x8x9x9], f32[1x16x9x9]) -> (f32[16x8x3x3], f32[16]) {pads=[1, 1, 1, 1]}",
       })
    EXPECT_EQ(problem_of(text), "") << text;
}

TEST(CheckWorkload, says_which_operands_are_missing) {
  expect_problem("MatMul@13(f32[3x4]) -> (f32[3x4]) {}", "has 1 inputs");
  expect_problem("Softmax@13(_) -> (f32[3]) {}", "omits its required input 0");
  expect_problem("LSTM@14(f32[5x3x9], f32[1x48x9]*) -> (f32[5x1x3x12]) {hidden_size=12}", "has 2 inputs");
  expect_problem("attune::Reorder@1() -> (f32[3]) {}", "'Reorder' has 0 inputs, expected 1");
  expect_problem("attune::ConvGradData@1(f32[1x3x8x8]) -> (f32[1x3x8x8]) {}", "expected 2");
  expect_problem("attune::ConvGradWeights@1(f32[1x3x8x8], _) -> (f32[1x3x8x8]) {}", "expected 2");
}

TEST(CheckWorkload, says_what_does_not_fit) {
  expect_problem("Transpose@13(f32[3x4]) -> (f32[3x4]) {perm=[1, 0]}", "makes f32[4x3]");
  expect_problem("Relu@14(f32[-3]) -> (f32[-3]) {}", "negative or overflowing");
  expect_problem("attune::Reorder@1(f32[1x20x9x9]) -> (f32[1x20x9x8]@nchw16c) {}", "keeps the dims");
  expect_problem("attune::ConvGradData@1(f32[3], f32[4]) -> (f32[5]) {}", "rank 1");
  expect_problem("attune::ConvGradData@1(f32[1x32x9x9], f32[32x16x3x3]*) -> (f32[1x16x19x9]) {pads=[1, 1, 1, 1]}",
                 "does not make f32[1x32x9x9]");
  expect_problem(
      "attune::ConvGradWeights@1(f32[1x8x9x9], f32[1x16x9x9]) -> (f32[16x8x3x3], f32[17]) {pads=[1, 1, 1, 1]}",
      "16 biases");
  expect_problem("attune::Other@1(f32[3]) -> (f32[3]) {}", "is not supported");
}

}  // namespace
}  // namespace attune
