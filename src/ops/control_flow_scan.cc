// Scan: in opset 8 over axis 1 of batched inputs with optional sequence lengths, from opset 9 over any axis.
#include "ops/control_flow.h"

namespace attune::control_flow {
namespace {

struct ScanPlan {
  const Graph* body = nullptr;
  bool batched = false;  // the opset 8 form
  int first = 0;         // the node's input that holds the first state
  int states = 0;
  int scans = 0;
  int scan_outputs = 0;
  std::vector<int64_t> input_axes, output_axes;  // possibly negative; batched: of one sequence
  std::vector<int64_t> input_directions, output_directions;
};

std::vector<int64_t> flags(const OpContext& context, std::string_view name, int count) {
  std::vector<int64_t> result = context.attr_ints(name, std::vector<int64_t>(static_cast<size_t>(count), 0));
  if (result.size() != static_cast<size_t>(count))
    context.fail("attribute '{}' has {} elements, expected {}", name, result.size(), count);
  return result;
}

std::vector<int64_t> direction_flags(const OpContext& context, std::string_view name, int count) {
  std::vector<int64_t> result = flags(context, name, count);
  for (const int64_t flag : result)
    if (flag != 0 && flag != 1) context.fail("attribute '{}' holds {}, expected 0 or 1", name, flag);
  return result;
}

ScanPlan plan_scan(const OpContext& context) {
  ScanPlan plan;
  plan.body = &context.attr_graph("body");
  plan.batched = context.version() < 9;
  plan.first = plan.batched ? 1 : 0;
  const int values = context.input_count() - plan.first;
  const int64_t scans = context.attr_int("num_scan_inputs");
  if (scans < 1 || scans > values) context.fail("attribute 'num_scan_inputs' is {}, expected 1 to {}", scans, values);
  plan.scans = static_cast<int>(scans);
  plan.states = values - plan.scans;
  for (int i = 0; i < values; ++i)
    if (!context.has_input(plan.first + i)) context.fail("input {} is missing", plan.first + i);
  const int body_inputs = static_cast<int>(plan.body->inputs.size());
  const int body_outputs = static_cast<int>(plan.body->outputs.size());
  if (body_inputs != values) context.fail("the body has {} inputs, expected {}", body_inputs, values);
  if (body_outputs < plan.states || body_outputs < context.output_count())
    context.fail("the body has {} outputs, expected at least {}", body_outputs,
                 std::max(plan.states, context.output_count()));
  plan.scan_outputs = body_outputs - plan.states;
  if (plan.batched) {
    plan.input_axes.assign(static_cast<size_t>(plan.scans), 0);
    plan.output_axes.assign(static_cast<size_t>(plan.scan_outputs), 0);
    plan.input_directions = direction_flags(context, "directions", plan.scans);
    plan.output_directions.assign(static_cast<size_t>(plan.scan_outputs), 0);
  } else {
    plan.input_axes = flags(context, "scan_input_axes", plan.scans);
    plan.output_axes = flags(context, "scan_output_axes", plan.scan_outputs);
    plan.input_directions = direction_flags(context, "scan_input_directions", plan.scans);
    plan.output_directions = direction_flags(context, "scan_output_directions", plan.scan_outputs);
  }
  return plan;
}

/// `shape` without the dim at `axis`; `dim` gathers what all inputs say about it.
std::optional<Shape> drop_dim(const std::optional<Shape>& shape, int64_t axis, Dim& dim, const OpContext& context) {
  if (!shape) return std::nullopt;
  Shape rest = *shape;
  const int64_t at = context.axis_in_range(axis, static_cast<int64_t>(rest.size()));
  const Dim& own = rest[static_cast<size_t>(at)];
  if (own.is_known() && dim.is_known() && own.value() != dim.value())
    context.fail("scan inputs have {} and {} steps, or batches", dim.value(), own.value());
  if (own.is_known() || dim.is_unknown()) dim = own;
  rest.erase(rest.begin() + at);
  return rest;
}

}  // namespace

void infer_scan(InferContext& context) {
  const ScanPlan plan = plan_scan(context);
  Dim batch, length;
  std::vector<ValueType> inputs;
  for (int i = 0; i < plan.states + plan.scans; ++i) {
    ValueType type = context.input(plan.first + i);
    if (plan.batched) type.shape = drop_dim(type.shape, 0, batch, context);
    if (i >= plan.states)
      type.shape = drop_dim(type.shape, plan.input_axes[static_cast<size_t>(i - plan.states)], length, context);
    inputs.push_back(std::move(type));
  }
  const auto carried = static_cast<size_t>(plan.states);
  const std::vector<ValueType> outputs = infer_carried(context, *plan.body, inputs, 0, 0, carried);
  for (int i = 0; i < context.output_count(); ++i) {
    const auto index = static_cast<size_t>(i);
    ValueType type = index < carried ? inputs[index] : outputs.at(index);
    if (index >= carried) type.shape = insert_dim(type.shape, plan.output_axes[index - carried], length, context);
    if (plan.batched) type.shape = insert_dim(type.shape, 0, batch, context);
    context.set_output(i, type.dtype, std::move(type.shape));
  }
}

namespace {

/// Runs one sequence: the results are the final states, then the stacked scan outputs.
std::vector<Tensor> run_sequence(KernelContext& context, const ScanPlan& plan, std::vector<Tensor> values,
                                 int64_t steps, std::optional<int64_t> padded_length) {
  const auto carried = static_cast<size_t>(plan.states);
  std::vector<Stack> stacks(static_cast<size_t>(plan.scan_outputs));
  std::vector<Tensor> feeds(values.begin(), values.begin() + plan.states);
  feeds.resize(values.size());
  for (int64_t step = 0; step < steps; ++step) {
    for (size_t s = 0; s < static_cast<size_t>(plan.scans); ++s) {
      const Tensor& scanned = values[carried + s];
      const int64_t axis = context.axis_in_range(plan.input_axes[s], scanned.rank());
      const int64_t index = plan.input_directions[s] == 0 ? step : steps - 1 - step;
      feeds[carried + s] = slice_at(scanned, axis, index);
    }
    std::vector<Tensor> results = context.run_subgraph(*plan.body, feeds);
    for (size_t k = 0; k < stacks.size(); ++k) stacks[k].push(results.at(carried + k), context);
    for (size_t c = 0; c < carried; ++c) feeds[c] = std::move(results[c]);
  }
  feeds.resize(carried);
  for (size_t k = 0; k < stacks.size(); ++k) {
    const Value& declared = plan.body->value(plan.body->outputs[carried + k]);
    const StackOrder order = plan.output_directions[k] == 0 ? StackOrder::append : StackOrder::prepend;
    feeds.push_back(stacks[k].finish(plan.output_axes[k], order, declared, context, padded_length));
  }
  return feeds;
}

/// Steps along the scan axis that every scan input must share.
int64_t common_length(const KernelContext& context, const ScanPlan& plan) {
  std::optional<int64_t> length;
  for (int s = 0; s < plan.scans; ++s) {
    const Tensor& scanned = context.input(plan.first + plan.states + s);
    const int64_t leading = plan.batched ? 1 : 0;
    const int64_t axis = context.axis_in_range(plan.input_axes[static_cast<size_t>(s)], scanned.rank() - leading);
    const int64_t own = scanned.dim(axis + leading);
    if (length && *length != own) context.fail("scan inputs have {} and {} steps", *length, own);
    length = own;
  }
  return length.value_or(0);
}

void run_batched(KernelContext& context, const ScanPlan& plan) {
  const int64_t length = common_length(context, plan);
  const int64_t batch = context.input(plan.first).dim(0);
  std::vector<int64_t> lengths(static_cast<size_t>(batch), length);
  if (context.has_input(0)) {
    lengths = context.ints(0);
    if (lengths.size() != static_cast<size_t>(batch))
      context.fail("sequence_lens has {} elements for a batch of {}", lengths.size(), batch);
  }
  std::vector<Stack> results(plan.body->outputs.size());
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t steps = lengths[static_cast<size_t>(b)];
    if (steps < 0 || steps > length) context.fail("sequence {} has length {}, expected 0 to {}", b, steps, length);
    std::vector<Tensor> values;
    for (int i = 0; i < plan.states + plan.scans; ++i) values.push_back(slice_at(context.input(plan.first + i), 0, b));
    const std::vector<Tensor> one = run_sequence(context, plan, std::move(values), steps, length);
    for (size_t i = 0; i < one.size(); ++i) results[i].push(one[i], context);
  }
  for (int i = 0; i < context.output_count(); ++i) {
    if (!context.wants_output(i)) continue;
    const auto index = static_cast<size_t>(i);
    Value declared = plan.body->value(plan.body->outputs[index]);
    if (i >= plan.states) declared.shape = insert_dim(declared.shape, 0, length, context);
    context.set_output(i, results[index].finish(0, StackOrder::append, declared, context));
  }
}

}  // namespace

void run_scan(KernelContext& context) {
  const ScanPlan plan = plan_scan(context);
  if (plan.batched) {
    run_batched(context, plan);
    return;
  }
  std::vector<Tensor> values;
  for (int i = 0; i < plan.states + plan.scans; ++i) values.push_back(context.input(i));
  std::vector<Tensor> results =
      run_sequence(context, plan, std::move(values), common_length(context, plan), std::nullopt);
  for (int i = 0; i < context.output_count(); ++i)
    if (context.wants_output(i)) context.set_output(i, std::move(results.at(static_cast<size_t>(i))));
}

}  // namespace attune::control_flow
