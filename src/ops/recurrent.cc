// RNN, GRU, LSTM.
#include "ops/recurrent.h"

#include "ops/families.h"

namespace attune {
namespace recurrent {
namespace {

Direction direction_of(const OpContext& context) {
  const std::string name = context.attr_string("direction", "forward");
  if (name == "forward") return Direction::forward;
  if (name == "reverse") return Direction::reverse;
  if (name == "bidirectional") return Direction::bidirectional;
  context.fail("direction '{}' is not known; expected forward, reverse or bidirectional", name);
}

std::span<const std::string_view> default_activations(CellKind kind) {
  static constexpr std::string_view kRnn[] = {"Tanh"};
  static constexpr std::string_view kGru[] = {"Sigmoid", "Tanh"};
  static constexpr std::string_view kLstm[] = {"Sigmoid", "Tanh", "Tanh"};
  if (kind == CellKind::rnn) return kRnn;
  if (kind == CellKind::gru) return kGru;
  return kLstm;
}

/// Checks input `slot` against dims that are known; unknown ones pass.
void expect_shape(const InferContext& context, int slot, const Shape& expected, std::string_view what) {
  if (slot < 0 || !context.has_input(slot) || !context.shape(slot)) return;
  const Shape& shape = *context.shape(slot);
  bool fits = shape.size() == expected.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = !shape[i].is_known() || !expected[i].is_known() || shape[i].value() == expected[i].value();
  if (!fits) context.fail("{} is {}, expected {}", what, to_text(shape), to_text(expected));
}

Dim dim_of(const InferContext& context, int slot, size_t axis) {
  const auto& shape = context.shape(slot);
  if (!shape) return Dim::unknown();
  if (shape->size() != 3) context.fail("input {} has rank {}, expected 3", slot, shape->size());
  return (*shape)[axis];
}

}  // namespace

SequenceSetup read_setup(const OpContext& context, CellKind kind) {
  SequenceSetup setup;
  setup.kind = kind;
  setup.direction = direction_of(context);
  setup.batch_first = context.attr_int("layout", 0) != 0;
  const auto functions = static_cast<size_t>(setup.directions() * activation_count(kind));
  setup.activations = activations_of(context, functions, default_activations(kind));
  // A clip of zero or below means no clip, as in ONNX Runtime.
  if (const float clip = context.attr_float("clip", 0); clip > 0) setup.clip = clip;
  setup.linear_before_reset = kind == CellKind::gru && context.attr_int("linear_before_reset", 0) != 0;
  setup.input_forget = kind == CellKind::lstm && context.attr_int("input_forget", 0) != 0;
  return setup;
}

void infer_sequence(InferContext& context, CellKind kind, const InputSlots& slots, WeightOrder order) {
  const SequenceSetup setup = read_setup(context, kind);
  const DType dtype = context.dtype(slots.x);
  const Dim steps = dim_of(context, slots.x, setup.batch_first ? 1 : 0);
  const Dim batch = dim_of(context, slots.x, setup.batch_first ? 0 : 1);
  const Dim input = dim_of(context, slots.x, 2);
  Dim hidden = dim_of(context, slots.r, order == WeightOrder::gates_first ? 2 : 1);
  if (context.has_attr("hidden_size")) {
    const int64_t stated = context.attr_int("hidden_size");
    if (stated < 1) context.fail("hidden_size is {}", stated);
    if (hidden.is_known() && hidden.value() != stated)
      context.fail("hidden_size is {}, but R has rows of {}", stated, hidden.value());
    hidden = stated;
  }
  if (hidden.is_known() && hidden.value() < 1) context.fail("R has rows of {} elements", hidden.value());
  const Dim directions = setup.directions();
  const Dim gates = hidden * Dim(gate_count(kind));
  const bool gates_first = order == WeightOrder::gates_first;
  expect_shape(context, slots.w, gates_first ? Shape{directions, gates, input} : Shape{directions, input, gates}, "W");
  expect_shape(context, slots.r, gates_first ? Shape{directions, gates, hidden} : Shape{directions, hidden, gates},
               "R");
  expect_shape(context, slots.bias, {directions, gates * 2}, "B");
  expect_shape(context, slots.lengths, {batch}, "sequence_lens");
  const Shape state = setup.batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  expect_shape(context, slots.h, state, "initial_h");
  expect_shape(context, slots.c, state, "initial_c");
  expect_shape(context, slots.peephole, {directions, hidden * 3}, "P");

  context.set_output(
      0, dtype, setup.batch_first ? Shape{batch, steps, directions, hidden} : Shape{steps, directions, batch, hidden});
  context.set_output(1, dtype, state);
  if (kind == CellKind::lstm) context.set_output(2, dtype, state);
}

}  // namespace recurrent

namespace {

using namespace recurrent;

InputSlots slots_of(CellKind kind) {
  InputSlots slots;
  if (kind == CellKind::lstm) slots.c = 6, slots.peephole = 7;
  return slots;
}

template <CellKind kind> void infer(InferContext& context) {
  infer_sequence(context, kind, slots_of(kind), WeightOrder::gates_first);
}

template <CellKind kind> void run(KernelContext& context) {
  run_sequence(context, read_setup(context, kind), slots_of(kind),
               {context.input(0), context.input(1), context.input(2)});
}

/// Two operations for each weight, step and row of the batch.
double flops(const CostContext& context) {
  const Dims x = context.input_dims(0);
  if (x.size() != 3) return 0;
  return 2.0 * static_cast<double>(x[0] * x[1]) * (context.input_elements(1) + context.input_elements(2));
}

constexpr OpDef kOps[] = {
    {.domain = "",
     .name = "RNN",
     .since = 1,
     .inputs = {3, 6},
     .outputs = {0, 2},
     .layout_class = LayoutClass::decides_function,
     .infer = infer<CellKind::rnn>,
     .kernel = run<CellKind::rnn>,
     .flops = flops},
    {.domain = "",
     .name = "GRU",
     .since = 1,
     .inputs = {3, 6},
     .outputs = {0, 2},
     .layout_class = LayoutClass::decides_function,
     .infer = infer<CellKind::gru>,
     .kernel = run<CellKind::gru>,
     .flops = flops},
    {.domain = "",
     .name = "LSTM",
     .since = 1,
     .inputs = {3, 8},
     .outputs = {0, 3},
     .layout_class = LayoutClass::decides_function,
     .infer = infer<CellKind::lstm>,
     .kernel = run<CellKind::lstm>,
     .flops = flops},
};

}  // namespace

std::span<const OpDef> recurrent_ops() { return kOps; }

}  // namespace attune
