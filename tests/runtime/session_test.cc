#include "runtime/session.h"

#include "base/parallel.h"
#include "graph/text.h"
#include "runtime/random_inputs.h"
#include "tensor_compare.h"
#include "zoo/zoo.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cstring>
#include <thread>

namespace attune {
namespace {

void expect_like_reference(const Graph& graph, const std::vector<Tensor>& inputs, double tolerance = 1e-4) {
  const auto expected = ReferenceExecutor(graph).run(inputs);
  const Session session(graph);
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second run uses the arena of the first
    const auto actual = session.run(inputs);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(test::compare(actual[i], expected[i], {tolerance, tolerance}), "");
  }
}

class ZooSession : public testing::TestWithParam<const char*> {};

TEST_P(ZooSession, computes_what_the_reference_does) {
  zoo::Options options;
  options.batch = 2;
  options.sequence = 16;
  const std::string name = GetParam();
  const bool fixed_size = name == "lenet" || name == "mlp" || name == "lstm_tagger";
  options.image_size = fixed_size ? 0 : 64;
  const Graph graph = zoo::build(GetParam(), options);
  expect_like_reference(graph, random_inputs(graph, {}, 3), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Models, ZooSession,
                         testing::Values("lenet", "mlp", "lstm_tagger", "shufflenetv2", "mobilenetv2", "resnet18",
                                         "yolov5s"),
                         [](const auto& model) { return std::string(model.param); });

TEST(Session, new_shapes_are_planned_as_they_come) {
  zoo::Options options;
  options.batch = 0;
  const Graph graph = zoo::build("lenet", options);
  const Session session(graph);
  const std::string input = graph.value(graph.inputs[0]).name;
  for (const int64_t batch : {1, 3, 2, 3}) {
    const auto inputs = random_inputs(graph, {{input, {batch, 1, 28, 28}}}, 5);
    const auto expected = ReferenceExecutor(graph).run(inputs);
    EXPECT_EQ(test::compare(session.run(inputs)[0], expected[0], {1e-4, 1e-5}), "");
  }
}

TEST(Session, shapes_that_the_data_decide_are_found_at_run_time) {
  const Graph graph = parse_graph(R"(graph "g" {
  opset "" 17
  input %x : f32[N, 4]
  const %one : i64[1] = [1]
  %nz = NonZero@17(%x) "nz"
  %t = Transpose@17(%nz) "t" {perm = ints [1, 0]}
  %g = GatherND@17(%x, %t) "g"
  %r = Relu@17(%g) "r"
  output %r
})");
  Tensor x = Tensor::zeros(DType::f32, {3, 4});
  x.mutable_data<float>()[2] = 5;
  x.mutable_data<float>()[7] = -1;
  const std::vector<Tensor> inputs = {x};
  expect_like_reference(graph, inputs);
}

TEST(Session, branches_and_loops_run_with_captured_values) {
  const Graph graph = parse_graph(R"(graph "g" {
  opset "" 17
  input %n : i64[]
  input %x : f32[2, 2]
  const %go : bool[] = hex "01"
  %y = Loop@17(%n, %go, %x) "loop" {body = graph "body" {
    input %i : i64[]
    input %c : bool[]
    input %carried : f32[2, 2]
    capture %x = %x
    %p = MatMul@17(%carried, %x) "p"
    %q = Add@17(%p, %x) "q"
    output %c
    output %q
  }}
  output %y
})");
  for (const int64_t count : {0, 1, 4}) {
    const std::vector<Tensor> inputs = {Tensor::scalar<int64_t>(count), random_inputs(graph, {}, 9)[1]};
    expect_like_reference(graph, inputs);
  }
}

TEST(Session, equal_nodes_with_other_tables_are_other_work) {
  const Graph graph = parse_graph(R"(graph "g" {
  opset "" 17
  opset "ai.onnx.ml" 4
  input %x : i64[4]
  %y = ai.onnx.ml::LabelEncoder@4(%x) "y" {keys_tensor = tensor i64[2] [1, 2], values_tensor = tensor i64[2] [10, 20], default_tensor = tensor i64[1] [0]}
  %z = ai.onnx.ml::LabelEncoder@4(%x) "z" {keys_tensor = tensor i64[2] [1, 2], values_tensor = tensor i64[2] [70, 80], default_tensor = tensor i64[1] [0]}
  output %y
  output %z
})");
  const std::vector<int64_t> numbers = {1, 2, 3, 1};
  expect_like_reference(graph, {Tensor::from<int64_t>({4}, numbers)});
}

TEST(Session, an_output_may_be_an_input_a_constant_or_given_twice) {
  const Graph graph = parse_graph(R"(graph "g" {
  opset "" 17
  input %x : f32[2]
  const %c : f32[2] = [1, 2]
  %y = Relu@17(%x) "r"
  %v = Unsqueeze@11(%y) "v" {axes = ints [0]}
  output %x
  output %c
  output %y
  output %y
  output %v
})");
  const auto inputs = random_inputs(graph, {}, 1);
  expect_like_reference(graph, inputs);
  Session session(graph);
  auto outputs = session.run(inputs);
  EXPECT_NE(outputs[0].bytes(), inputs[0].bytes());  // the caller's input stays the caller's
}

TEST(Session, writes_outputs_into_the_callers_memory) {
  const Graph graph = parse_graph(R"(graph "g" {
  opset "" 17
  input %x : f32[2, 3]
  const %c : f32[2] = [1, 2]
  %y = Relu@17(%x) "r"
  %n = NonZero@17(%y) "n"
  output %y
  output %c
  output %y
  output %x
  output %n
})");
  const auto inputs = random_inputs(graph, {}, 1);
  const Session session(graph);
  const auto expected = session.run(inputs);
  std::vector<Tensor> outputs;
  for (const Tensor& tensor : expected) outputs.push_back(Tensor::zeros(tensor.dtype(), tensor.dims()));
  const std::vector<Tensor> rooms = outputs;
  session.run_into(inputs, outputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(outputs[i].bytes(), rooms[i].bytes()) << i;
    EXPECT_EQ(test::compare(outputs[i], expected[i], {0, 0}), "") << i;
  }
  for (const size_t wrong : {size_t{0}, size_t{1}, size_t{3}, size_t{4}}) {
    std::vector<Tensor> room(expected.size());
    room[wrong] = Tensor::zeros(expected[wrong].dtype(), {7});
    EXPECT_THROW(session.run_into(inputs, room), UserError) << wrong;
  }
}

TEST(Session, says_what_memory_it_holds) {
  const Graph graph = zoo::build("lenet", {});
  const Session session(graph);
  EXPECT_EQ(session.memory().plans, 0);
  const auto inputs = random_inputs(graph, {}, 1);
  session.run(inputs);
  session.run(inputs);
  const auto plan = session.plan(inputs);
  EXPECT_EQ(session.memory().plans, 1);
  EXPECT_EQ(session.memory().constant_bytes, plan->constant_bytes());
  EXPECT_EQ(session.memory().largest_arena_bytes, plan->arena_bytes);
  EXPECT_EQ(session.memory().held_arena_bytes, plan->arena_bytes);  // runs one after the other share an arena
}

TEST(Session, keeps_the_callers_float_mode_and_thread_count) {
  const unsigned before = _mm_getcsr();
  const Graph graph = zoo::build("lenet", {});
  SessionOptions options;
  options.threads = 1;
  const int threads = thread_count();
  const Session session(graph, options);
  session.run(random_inputs(graph, {}, 1));
  EXPECT_EQ(_mm_getcsr() & 0x8040, before & 0x8040);  // flush to zero, denormals are zero
  EXPECT_EQ(thread_count(), threads);
}

TEST(Session, refuses_inputs_that_do_not_fit) {
  const Session session(zoo::build("lenet", {}));
  EXPECT_THROW(session.run({}), UserError);
  const std::vector<Tensor> wrong_shape = {Tensor::zeros(DType::f32, {1, 1, 27, 28})};
  EXPECT_THROW(session.run(wrong_shape), UserError);
  const std::vector<Tensor> wrong_type = {Tensor::zeros(DType::f64, {1, 1, 28, 28})};
  EXPECT_THROW(session.run(wrong_type), UserError);
}

TEST(Session, a_memory_limit_is_kept_or_refused) {
  SessionOptions options;
  options.memory_limit_bytes = 1000;
  const Graph graph = zoo::build("lenet", {});
  const Session session(graph, options);
  EXPECT_THROW(session.run(random_inputs(graph, {}, 1)), UserError);
}

TEST(Session, concurrent_runs_give_the_bits_of_a_lone_run) {
  zoo::Options options;
  options.image_size = 64;
  const Graph graph = zoo::build("shufflenetv2", options);
  const Session session(graph);
  const auto inputs = random_inputs(graph, {}, 21);
  const Tensor lone = session.run(inputs)[0];
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        const Tensor result = session.run(inputs)[0];
        if (std::memcmp(result.bytes(), lone.bytes(), static_cast<size_t>(lone.size_bytes())) != 0) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

int steps_of(const Session& session, const std::vector<Tensor>& inputs, std::string_view op) {
  int count = 0;
  for (const Step& step : session.plan(inputs)->steps) count += step.node != nullptr && step.node->op == op ? 1 : 0;
  return count;
}

TEST(Session, parts_that_lie_in_one_piece_are_views) {
  const Graph graph = parse_graph(R"(graph "g" {
  input %x : f32[1, 32, 4, 4]
  const %sizes : i64[2] = [16, 16]
  const %from : i64[1] = [8]
  const %to : i64[1] = [24]
  const %axis : i64[1] = [1]
  %r = Relu@17(%x) "relu"
  %a, %b = Split@17(%r, %sizes) "split" {axis = 1}
  %s = Slice@17(%r, %from, %to, %axis) "slice"
  %t = Tanh@17(%a) "tanh"
  %u = Exp@17(%b) "exp"
  %v = Neg@17(%s) "neg"
  %y = Concat@17(%t, %u, %v) "concat" {axis = 1}
  %z = Sigmoid@17(%y) "sigmoid"
  output %z
  output %b
  output %t
  output %y
})");
  const auto inputs = random_inputs(graph, {}, 3);
  expect_like_reference(graph, inputs, 1e-5);
  const Session session(graph);
  for (const char* op : {"Split", "Slice", "Concat"}) EXPECT_EQ(steps_of(session, inputs, op), 0) << op;
}

TEST(Session, parts_in_pieces_are_copied) {
  const Graph graph = parse_graph(R"(graph "g" {
  input %x : f32[2, 32, 4, 4]
  const %sizes : i64[2] = [16, 16]
  %a, %b = Split@17(%x, %sizes) "split" {axis = 1}
  %t = Tanh@17(%a) "tanh"
  %y = Concat@17(%t, %b, %t) "concat" {axis = 1}
  output %y
})");
  const auto inputs = random_inputs(graph, {}, 3);
  expect_like_reference(graph, inputs, 1e-5);
  const Session session(graph);
  EXPECT_EQ(steps_of(session, inputs, "Split"), 1);
  EXPECT_EQ(steps_of(session, inputs, "Concat"), 1);
}

TEST(Session, takes_one_of_an_axis_where_it_lies) {
  const Graph graph = parse_graph(R"(graph "g" {
  input %x : f32[3, 2, 16]
  const %first : i64[] = [0]
  const %last : i64[1] = [-1]
  %r = Relu@17(%x) "r"
  %a = Gather@17(%r, %first) "first" {axis = 0}
  %b = Gather@17(%r, %last) "last" {axis = 0}
  %inner = Gather@17(%r, %first) "inner" {axis = 1}
  %c = Exp@17(%a) "exp"
  %y = Sub@17(%c, %b) "y"
  output %y
  output %inner
})");
  const auto inputs = random_inputs(graph, {}, 1);
  expect_like_reference(graph, inputs);
  EXPECT_EQ(steps_of(Session(graph), inputs, "Gather"), 1) << "elements of an inner axis do not lie in one piece";
}

TEST(Session, a_numeric_mode_can_be_for_some_operators) {
  zoo::Options zoo_options;
  zoo_options.image_size = 64;
  const Graph graph = zoo::build("resnet18", zoo_options);
  const auto inputs = random_inputs(graph, {}, 3);
  SessionOptions options;
  options.mode = NumericMode::high_performance;
  options.mode_operators = {"MatMul"};
  const Session session(graph, options);
  const auto plan = session.plan(inputs);
  for (const Step& step : plan->steps) {
    if (step.node == nullptr || !step.node->op.starts_with("Fused")) continue;
    EXPECT_EQ(step.workload.mode == NumericMode::high_performance, step.node->op == "FusedMatMul") << step.label;
  }
  options.mode_operators = {"Convv"};
  EXPECT_THROW(Session(graph, options), UserError);
}

TEST(Session, bf16_stays_near_f32_and_keeps_the_types_of_outputs) {
  zoo::Options zoo_options;
  zoo_options.image_size = 64;
  const Graph graph = zoo::build("mobilenetv2", zoo_options);
  const auto inputs = random_inputs(graph, {}, 3);
  SessionOptions options;
  options.dtype = DType::bf16;
  const Session narrow(graph, options);
  bool computes_narrow = false;
  for (const Step& step : narrow.plan(inputs)->steps)
    computes_narrow |= step.node != nullptr && step.workload.input(0).dtype == DType::bf16;
  EXPECT_TRUE(computes_narrow);
  const Tensor wide = Session(graph).run(inputs)[0], result = narrow.run(inputs)[0];
  ASSERT_EQ(result.dtype(), DType::f32);
  float largest = 0, worst = 0;
  for (int64_t i = 0; i < wide.count(); ++i) {
    largest = std::max(largest, std::abs(wide.data<float>()[i]));
    worst = std::max(worst, std::abs(wide.data<float>()[i] - result.data<float>()[i]));
  }
  EXPECT_LT(worst, 0.05F * largest);
}

}  // namespace
}  // namespace attune
