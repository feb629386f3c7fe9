#include "ops/control_flow.h"

#include "ops/op_case.h"
#include "ops/registry.h"

namespace attune::test {
namespace {

/// A body that only has the right arity; what it computes is given by the test's run_subgraph.
std::shared_ptr<Graph> body(int inputs, int outputs, DType dtype = DType::f32, std::optional<Shape> shape = Shape{}) {
  auto graph = std::make_shared<Graph>();
  for (int i = 0; i < inputs; ++i) graph->add_input("", dtype, shape);
  for (int i = 0; i < outputs; ++i) {
    Value value;
    value.dtype = dtype;
    value.shape = shape;
    graph->outputs.push_back(graph->add_value(std::move(value)));
  }
  return graph;
}

RunNodeOptions with_body(std::function<std::vector<Tensor>(const Graph&, std::span<const Tensor>)> run) {
  RunNodeOptions options;
  options.run_subgraph = std::move(run);
  return options;
}

TEST(If, runs_the_branch_that_the_condition_names) {
  const auto yes = body(0, 1), no = body(0, 1);
  const auto options = with_body([&](const Graph& graph, std::span<const Tensor>) {
    return std::vector{f32({}, {&graph == yes.get() ? 1.0f : 2.0f})};
  });
  for (const bool condition : {true, false}) {
    const auto out = OpCase("If")
                         .input(Tensor::scalar<bool>(condition))
                         .attr("then_branch", yes)
                         .attr("else_branch", no)
                         .run(options);
    expect_near(out[0], f32({}, {condition ? 1.0f : 2.0f}));
  }
}

std::vector<Tensor> doubling(const Graph&, std::span<const Tensor> in) {
  const float next = in[2].data<float>()[0] * 2;
  return {Tensor::scalar<bool>(next < 16), f32({}, {next}), f32({1}, {next})};
}

TEST(Loop, stops_at_the_trip_count_and_stacks_the_scan_outputs) {
  const auto out = OpCase("Loop")
                       .input(i64({}, {3}))
                       .no_input()
                       .input(f32({}, {1}))
                       .attr("body", body(3, 3))
                       .outputs(2)
                       .run(with_body(doubling));
  expect_near(out[0], f32({}, {8}));
  expect_near(out[1], f32({3, 1}, {2, 4, 8}));
}

TEST(Loop, stops_when_the_body_says_so_however_large_the_trip_count) {
  const auto out = OpCase("Loop")
                       .input(i64({1}, {INT64_MAX}))
                       .input(Tensor::scalar<bool>(true))
                       .input(f32({}, {1}))
                       .attr("body", body(3, 3))
                       .outputs(2)
                       .run(with_body(doubling));
  expect_near(out[0], f32({}, {16}));
  EXPECT_EQ(out[1].dims(), (Dims{4, 1}));
}

TEST(Loop, without_iterations_gives_its_inputs_and_empty_scan_outputs) {
  const auto out = OpCase("Loop")
                       .input(i64({}, {0}))
                       .no_input()
                       .input(f32({}, {5}))
                       .attr("body", body(3, 3, DType::f32, Shape{2, Dim::symbol("N")}))
                       .outputs(2)
                       .run(with_body(doubling));
  expect_near(out[0], f32({}, {5}));
  EXPECT_EQ(out[1].dims(), (Dims{0, 2, 0}));
  EXPECT_EQ(out[1].dtype(), DType::f32);
}

TEST(Loop, refuses_a_body_with_too_few_inputs) {
  EXPECT_THROW(OpCase("Loop")
                   .input(i64({}, {1}))
                   .no_input()
                   .input(f32({}, {1}))
                   .attr("body", body(2, 2))
                   .run(with_body(doubling)),
               UserError);
}

/// state += element; yields the new state.
std::vector<Tensor> accumulate(const Graph&, std::span<const Tensor> in) {
  Tensor sum = in[0].clone();
  for (int64_t i = 0; i < sum.count(); ++i) sum.mutable_data<float>()[i] += in[1].data<float>()[i];
  return {sum, sum};
}

TEST(Scan, walks_any_axis_in_both_directions) {
  const auto out = OpCase("Scan", 11)
                       .input(f32({2}, {0, 0}))
                       .input(f32({2, 3}, {1, 2, 3, 4, 5, 6}))
                       .attr("body", body(2, 2))
                       .attr("num_scan_inputs", int64_t{1})
                       .attr("scan_input_axes", std::vector<int64_t>{-1})
                       .attr("scan_input_directions", std::vector<int64_t>{1})
                       .attr("scan_output_axes", std::vector<int64_t>{1})
                       .attr("scan_output_directions", std::vector<int64_t>{1})
                       .outputs(2)
                       .run(with_body(accumulate));
  expect_near(out[0], f32({2}, {6, 15}));
  expect_near(out[1], f32({2, 3}, {6, 5, 3, 15, 11, 6}));
}

TEST(Scan, of_opset_8_is_batched_and_pads_short_sequences) {
  const auto out = OpCase("Scan", 8)
                       .input(i64({2}, {3, 1}))
                       .input(f32({2, 1}, {0, 10}))
                       .input(f32({2, 3, 1}, {1, 2, 3, 4, 5, 6}))
                       .attr("body", body(2, 2))
                       .attr("num_scan_inputs", int64_t{1})
                       .outputs(2)
                       .run(with_body(accumulate));
  expect_near(out[0], f32({2, 1}, {6, 14}));
  expect_near(out[1], f32({2, 3, 1}, {1, 3, 6, 14, 0, 0}));
}

TEST(Scan, refuses_a_sequence_longer_than_its_input) {
  EXPECT_THROW(OpCase("Scan", 8)
                   .input(i64({1}, {4}))
                   .input(f32({1, 1}, {0}))
                   .input(f32({1, 3, 1}, {1, 2, 3}))
                   .attr("body", body(2, 2))
                   .attr("num_scan_inputs", int64_t{1})
                   .outputs(2)
                   .run(with_body(accumulate)),
               UserError);
}

/// Static inference of one node whose body's types follow from a function.
class BodyInfer final : public InferContext {
 public:
  BodyInfer(const Node& node, std::vector<ValueType> inputs) : InferContext(node), inputs_(std::move(inputs)) {}
  const ValueType& input(int i) const override { return inputs_.at(static_cast<size_t>(i)); }
  const Tensor* constant(int) const override { return nullptr; }
  std::optional<std::vector<Dim>> content(int) const override { return std::nullopt; }
  void set_output(int, DType, std::optional<Shape> shape) override { shapes.push_back(std::move(shape)); }
  void set_content(int, std::vector<Dim>) override {}
  std::vector<ValueType> infer_subgraph(const Graph&, std::span<const ValueType> in) override {
    // The body appends a row to its state and yields the state.
    ValueType next = in[2];
    if (next.shape) (*next.shape)[0] = (*next.shape)[0] + 1;
    return {{DType::boolean, Shape{}}, next, in[2]};
  }
  std::vector<std::optional<Shape>> shapes;

 private:
  std::vector<ValueType> inputs_;
};

TEST(Loop, infers_only_the_dims_that_stay_the_same_over_iterations) {
  Node node;
  node.op = "Loop";
  node.version = 13;
  node.inputs = {0, 1, 2};
  node.outputs = {3, 4};
  node.attributes["body"] = body(3, 3);
  BodyInfer context(node, {{DType::i64, Shape{}}, {DType::boolean, Shape{}}, {DType::f32, Shape{4, 7}}});
  find_op("", "Loop", 13)->infer(context);
  EXPECT_EQ(to_text(context.shapes[0]), "?x7");
  EXPECT_EQ(to_text(context.shapes[1]), "?x?x7");
}

}  // namespace
}  // namespace attune::test
