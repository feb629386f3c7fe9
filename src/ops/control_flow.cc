// If, Loop, Scan.
#include "ops/control_flow.h"

#include "ops/families.h"

namespace attune {
namespace {

using namespace control_flow;

/// The branch that a known condition takes; nullptr when the condition is not known.
const Graph* known_branch(const InferContext& context) {
  const Tensor* condition = context.constant(0);
  if (condition == nullptr) return nullptr;
  return &context.attr_graph(condition_of(*condition, context, "the condition") ? "then_branch" : "else_branch");
}

void infer_if(InferContext& context) {
  if (context.dtype(0) != DType::boolean && context.dtype(0) != DType::undefined)
    context.fail("the condition is {}, expected bool", dtype_name(context.dtype(0)));
  const Graph& then_branch = context.attr_graph("then_branch");
  const Graph& else_branch = context.attr_graph("else_branch");
  const Graph* taken = known_branch(context);
  std::vector<ValueType> types = context.infer_subgraph(taken ? *taken : then_branch, {});
  if (!taken) {
    const std::vector<ValueType> others = context.infer_subgraph(else_branch, {});
    if (others.size() != types.size()) context.fail("the branches have {} and {} outputs", types.size(), others.size());
    for (size_t i = 0; i < types.size(); ++i)
      types[i] = {merge_dtypes(types[i].dtype, others[i].dtype, context, static_cast<int>(i)),
                  merge_shapes(types[i].shape, others[i].shape)};
  }
  if (types.size() < static_cast<size_t>(context.output_count()))
    context.fail("a branch has {} outputs, the node has {}", types.size(), context.output_count());
  for (int i = 0; i < context.output_count(); ++i) {
    ValueType& type = types[static_cast<size_t>(i)];
    context.set_output(i, type.dtype, std::move(type.shape));
  }
}

void run_if(KernelContext& context) {
  const bool condition = condition_of(context.input(0), context, "the condition");
  std::vector<Tensor> results = context.run_subgraph(context.attr_graph(condition ? "then_branch" : "else_branch"), {});
  for (int i = 0; i < context.output_count(); ++i)
    if (context.wants_output(i)) context.set_output(i, std::move(results.at(static_cast<size_t>(i))));
}

/// Number of loop-carried values; checks that body and node agree about it.
size_t check_loop(const OpContext& context, const Graph& body) {
  const size_t carried = context.input_count() > 2 ? static_cast<size_t>(context.input_count()) - 2 : 0;
  if (body.inputs.size() != carried + 2)
    context.fail("the body has {} inputs, expected {} (iteration, condition, loop-carried values)", body.inputs.size(),
                 carried + 2);
  const size_t least = static_cast<size_t>(context.output_count()) + 1;
  if (body.outputs.size() < carried + 1 || body.outputs.size() < least)
    context.fail("the body has {} outputs, expected at least {}", body.outputs.size(), std::max(carried + 1, least));
  for (int i = 2; i < context.input_count(); ++i)
    if (!context.has_input(i)) context.fail("loop-carried input {} is missing", i);
  return carried;
}

void infer_loop(InferContext& context) {
  const Graph& body = context.attr_graph("body");
  const size_t carried = check_loop(context, body);
  std::vector<ValueType> inputs = {{DType::i64, Shape{}}, {DType::boolean, Shape{}}};
  for (size_t i = 0; i < carried; ++i) inputs.push_back(context.input(static_cast<int>(i) + 2));
  const std::vector<ValueType> outputs = infer_carried(context, body, inputs, 2, 1, carried);
  for (int i = 0; i < context.output_count(); ++i) {
    const auto index = static_cast<size_t>(i);
    if (index < carried) {
      context.set_output(i, inputs[index + 2].dtype, inputs[index + 2].shape);
      continue;
    }
    const ValueType& element = outputs.at(index + 1);
    context.set_output(i, element.dtype, insert_dim(element.shape, 0, Dim::unknown(), context));
  }
}

void run_loop(KernelContext& context) {
  const Graph& body = context.attr_graph("body");
  const size_t carried = check_loop(context, body);
  std::optional<int64_t> trips;
  if (context.has_input(0)) {
    const std::vector<int64_t> count = context.ints(0);
    if (count.size() != 1) context.fail("the trip count has {} elements, expected one", count.size());
    trips = count[0];
  }
  bool go_on = !context.has_input(1) || condition_of(context.input(1), context, "the condition");

  std::vector<Tensor> state(carried + 2);
  for (size_t i = 0; i < carried; ++i) state[i + 2] = context.input(static_cast<int>(i) + 2);
  std::vector<Stack> stacks(body.outputs.size() - 1 - carried);
  for (int64_t i = 0; go_on && (!trips || i < *trips); ++i) {
    state[0] = Tensor::scalar<int64_t>(i);
    state[1] = Tensor::scalar<bool>(go_on);
    std::vector<Tensor> results = context.run_subgraph(body, state);
    // Counts even where the node omits its own condition: runtimes agree on that against the text of the standard.
    go_on = condition_of(results.at(0), context, "the condition that the body returns");
    for (size_t k = 0; k < stacks.size(); ++k) stacks[k].push(results.at(1 + carried + k), context);
    for (size_t c = 0; c < carried; ++c) state[c + 2] = std::move(results[c + 1]);
  }

  for (int i = 0; i < context.output_count(); ++i) {
    if (!context.wants_output(i)) continue;
    const auto index = static_cast<size_t>(i);
    if (index < carried)
      context.set_output(i, std::move(state[index + 2]));
    else
      context.set_output(
          i, stacks[index - carried].finish(0, StackOrder::append, body.value(body.outputs[index + 1]), context));
  }
}

constexpr OpDef kOps[] = {
    {.domain = "",
     .name = "If",
     .since = 1,
     .inputs = {1, 1},
     .outputs = {1, kVariadic},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_if,
     .kernel = run_if},
    {.domain = "",
     .name = "Loop",
     .since = 1,
     .inputs = {0, kVariadic},
     .outputs = {0, kVariadic},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_loop,
     .kernel = run_loop},
    {.domain = "",
     .name = "Scan",
     .since = 8,
     .inputs = {0, kVariadic},
     .outputs = {1, kVariadic},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_scan,
     .kernel = run_scan},
};

}  // namespace

std::span<const OpDef> control_flow_ops() { return kOps; }

}  // namespace attune
