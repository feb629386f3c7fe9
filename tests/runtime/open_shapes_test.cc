#include "graph/text.h"
#include "runtime/session.h"
#include "tensor_compare.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

/// The rows of a matrix that are chosen by a mask, multiplied by constant weights: how many there are is in the data.
constexpr const char* kChosenRows = R"(graph "g" {
  opset "" 17
  input %x : f32[N, 4]
  input %mask : bool[N]
  const %w : f32[4, 3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %chosen = Compress@11(%x, %mask) "chosen" {axis = 0}
  %y = MatMul@17(%chosen, %w) "y"
  %z = Relu@17(%x) "z"
  output %y
  output %z
  output %x
})";

std::vector<Tensor> rows(int64_t count, int64_t chosen) {
  std::vector<float> values;
  for (int64_t i = 0; i < count * 4; ++i) values.push_back(static_cast<float>(i % 7) - 3);
  Tensor mask = Tensor::zeros(DType::boolean, {count});
  for (int64_t i = 0; i < chosen; ++i) mask.mutable_data<bool>()[i] = true;
  return {Tensor::from<float>({count, 4}, values), mask};
}

void expect_like_reference(const Session& session, const Graph& graph, const std::vector<Tensor>& inputs) {
  const auto expected = ReferenceExecutor(graph).run(inputs);
  const auto actual = session.run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(test::compare(actual[i], expected[i], {1e-5, 1e-6}), "");
}

TEST(OpenShapes, what_follows_is_planned_once_the_data_have_decided) {
  const Graph graph = parse_graph(kChosenRows);
  const Session session(graph);
  const auto inputs = rows(6, 2);
  expect_like_reference(session, graph, inputs);
  bool found = false;
  for (const Step& step : session.plan(inputs)->steps)
    if (step.label == "y") {
      found = true;
      EXPECT_NE(step.kernel, nullptr) << step.reason;
      EXPECT_TRUE(step.workload.input(1).constant);  // so its weights were packed
    }
  EXPECT_TRUE(found);
}

TEST(OpenShapes, ever_new_ones_do_not_make_ever_more_plans) {
  const Graph graph = parse_graph(kChosenRows);
  const Session session(graph);
  for (const int64_t chosen : {0, 1, 40, 7}) expect_like_reference(session, graph, rows(40, chosen));
  for (int64_t chosen = 0; chosen <= 40; ++chosen) expect_like_reference(session, graph, rows(40, chosen));
  EXPECT_LT(session.memory().plans, 30);
}

TEST(OpenShapes, outputs_of_both_parts_go_into_the_callers_memory) {
  const Graph graph = parse_graph(kChosenRows);
  const Session session(graph);
  const auto inputs = rows(5, 3);
  std::vector<Tensor> outputs = {Tensor::zeros(DType::f32, {3, 3}), Tensor::zeros(DType::f32, {5, 4}), Tensor()};
  const std::byte *first = outputs[0].bytes(), *second = outputs[1].bytes();
  session.run_into(inputs, outputs);
  const auto expected = ReferenceExecutor(graph).run(inputs);
  EXPECT_EQ(outputs[0].bytes(), first);
  EXPECT_EQ(outputs[1].bytes(), second);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(test::compare(outputs[i], expected[i], {1e-5, 1e-6}), "");
  outputs[0] = Tensor::zeros(DType::f32, {4, 3});
  EXPECT_THROW(session.run_into(inputs, outputs), UserError);
}

TEST(OpenShapes, shapes_of_what_came_before_stay_known) {
  const Graph graph = parse_graph(R"(graph "g" {
  opset "" 17
  input %x : f32[N, 4]
  input %mask : bool[N]
  const %zero : i64[1] = [0]
  const %one : i64[1] = [1]
  const %two : i64[1] = [2]
  const %minus : i64[1] = [-1]
  %shape = Shape@17(%x) "shape"
  %width = Slice@17(%shape, %one, %two, %zero) "width"
  %chosen = Compress@11(%x, %mask) "chosen" {axis = 0}
  %target = Concat@17(%width, %minus) "target" {axis = 0}
  %y = Reshape@17(%chosen, %target) "y"
  output %y
})");
  const Session session(graph);
  expect_like_reference(session, graph, rows(6, 4));
  expect_like_reference(session, graph, rows(9, 3));
}

constexpr const char* kBranches = R"(graph "g" {
  opset "" 17
  input %x : f32[N, 2]
  input %flag : bool[]
  const %two : i64[] = [2]
  %shape = Shape@17(%x) "shape" {start = 0, end = 1}
  %rows = Squeeze@17(%shape) "rows"
  %tall = Greater@17(%rows, %two) "tall"
  %y = If@17(%tall) "choice" {
    then_branch = graph "then" {
      capture %x = %x
      capture %flag = %flag
      %a = Relu@17(%x) "a"
      %b = If@17(%flag) "inner" {
        then_branch = graph "yes" {
          capture %a = %a
          %c = Neg@17(%a) "c"
          output %c
        },
        else_branch = graph "no" {
          capture %x = %x
          output %x
        }
      }
      output %b
    },
    else_branch = graph "else" {
      capture %x = %x
      output %x
    }
  }
  output %y
})";

TEST(KnownBranches, are_planned_in_place_of_their_if) {
  const Graph graph = parse_graph(kBranches);
  const Session session(graph);
  for (const bool flag : {true, false})
    for (const int64_t count : {2, 5}) {
      std::vector<float> values;
      for (int64_t i = 0; i < 2 * count; ++i) values.push_back(static_cast<float>(i) - 3);
      const std::vector<Tensor> inputs = {Tensor::from<float>({count, 2}, values), Tensor::scalar(flag)};
      expect_like_reference(session, graph, inputs);
      for (const Step& step : session.plan(inputs)->steps) EXPECT_NE(step.label, "choice");
    }
}

}  // namespace
}  // namespace attune
