#include "providers/native/recurrent_shape.h"

#include "ops/context.h"

namespace attune::native {
namespace {

/// `functions` of each direction: Sigmoid, then Tanh.
bool has_default_activations(const OpContext& context, size_t functions) {
  if (!context.has_attr("activations")) return true;
  const auto& given = context.attr_strings("activations");
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != (i % functions == 0 ? "Sigmoid" : "Tanh")) return false;
  return true;
}

}  // namespace

std::variant<RecurrentShape, Refusal> recurrent_shape(const Workload& workload) {
  const std::string& op = workload.op;
  const DType dtype = workload.input(kX).dtype;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec &&
          (spec->dtype != dtype || (dtype != DType::f32 && dtype != DType::bf16) || spec->layout != Layout::plain))
        return refuse("the native {} takes plain operands, all f32 or all bf16, got {}", op, to_text(spec));
  for (const size_t i : {kW, kR, kB})
    if (workload.has_input(i) && !workload.input(i).constant)
      return refuse("the native {} packs its weights ahead of time, and input {} is not constant", op, i);
  if (workload.has_input(kLengths)) return refuse("the native {} has no sequence lengths", op);
  if (workload.has_input(kPeepholes)) return refuse("the native {} has no peepholes", op);
  const Node node = workload.node();
  const OpContext context(node);
  for (const char* name : {"clip", "activation_alpha", "activation_beta"})
    if (context.has_attr(name)) return refuse("the native {} does not have attribute '{}'", op, name);
  if (context.attr_int("input_forget", 0) != 0 || context.attr_int("layout", 0) != 0)
    return refuse("the native {} does not have input_forget or the batch-first layout", op);
  const bool gru = op == "GRU";
  if (!has_default_activations(context, gru ? 2 : 3))
    return refuse("the native {} has the default activations alone", op);
  const Dims &x = workload.input(kX).dims, &r = workload.input(kR).dims;
  if (x.size() != 3 || r.size() != 3) return refuse("a {} of ranks {} and {}", op, x.size(), r.size());
  RecurrentShape shape{.steps = x[0], .batch = x[1], .inputs = x[2], .hidden = r[2], .directions = r[0]};
  if (std::min({shape.steps, shape.batch, shape.hidden, shape.inputs}) == 0) return refuse("an operand is empty");
  shape.lanes = cell_loops().lanes;
  shape.panels = (shape.hidden + shape.lanes - 1) / shape.lanes;
  shape.reverse = context.attr_string("direction", "forward") == "reverse";
  shape.gru = gru;
  shape.reset_first = gru && context.attr_int("linear_before_reset", 0) == 0;
  constexpr int64_t kMostRows = 8;
  if (gru && !shape.grouped() && shape.batch > kMostRows)
    return refuse(
        "the native GRU of {} units multiplies with a fourth gate of zeros, which pays for up to {} rows, got {}",
        shape.hidden, kMostRows, shape.batch);
  return shape;
}

}  // namespace attune::native
