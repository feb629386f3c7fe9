#include "providers/recurrent_layer.h"

#include "base/parallel.h"
#include "ops/context.h"

#include <algorithm>

namespace attune {
namespace {

using namespace recurrent;

/// `functions` of each direction: Sigmoid, then Tanh.
bool has_default_activations(const OpContext& context, size_t functions) {
  if (!context.has_attr("activations")) return true;
  const auto& given = context.attr_strings("activations");
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != (i % functions == 0 ? "Sigmoid" : "Tanh")) return false;
  return true;
}

}  // namespace

bool is_recurrent(const Workload& workload) {
  return workload.domain.empty() && (workload.op == "LSTM" || workload.op == "GRU");
}

std::variant<RecurrentLayer, Refusal> recurrent_layer(const Workload& workload) {
  const std::string& op = workload.op;
  const DType dtype = workload.input(kX).dtype;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec &&
          (spec->dtype != dtype || (dtype != DType::f32 && dtype != DType::bf16) || spec->layout != Layout::plain))
        return refuse("one kernel for an {} takes plain operands, all f32 or all bf16, got {}", op, to_text(spec));
  for (const size_t i : {kW, kR, kB})
    if (workload.has_input(i) && !workload.input(i).constant)
      return refuse("one kernel for an {} packs its weights ahead of time, and input {} is not constant", op, i);
  if (workload.has_input(kLengths)) return refuse("one kernel for an {} has no sequence lengths", op);
  if (workload.has_input(kPeepholes)) return refuse("one kernel for an {} has no peepholes", op);
  const Node node = workload.node();
  const OpContext context(node);
  for (const char* name : {"clip", "activation_alpha", "activation_beta"})
    if (context.has_attr(name)) return refuse("one kernel for an {} does not have attribute '{}'", op, name);
  if (context.attr_int("input_forget", 0) != 0 || context.attr_int("layout", 0) != 0)
    return refuse("one kernel for an {} does not have input_forget or the batch-first layout", op);
  const bool gru = op == "GRU";
  if (!has_default_activations(context, gru ? 2 : 3))
    return refuse("one kernel for an {} has the default activations alone", op);
  const Dims &x = workload.input(kX).dims, &r = workload.input(kR).dims;
  if (x.size() != 3 || r.size() != 3) return refuse("an {} of ranks {} and {}", op, x.size(), r.size());
  RecurrentLayer layer{.steps = x[0], .batch = x[1], .inputs = x[2], .hidden = r[2], .directions = r[0]};
  if (std::min({layer.steps, layer.batch, layer.hidden, layer.inputs}) == 0) return refuse("an operand is empty");
  layer.reverse = context.attr_string("direction", "forward") == "reverse";
  layer.gru = gru;
  layer.reset_first = gru && context.attr_int("linear_before_reset", 0) == 0;
  return layer;
}

int most_sharing_threads(int64_t directions, int64_t parts) {
  return static_cast<int>(std::clamp<int64_t>(thread_count() / directions, 1, parts));
}

bool sharing_pays(int64_t weight_bytes) {
  constexpr int64_t kWorthSharing = 256 << 10;
  return weight_bytes >= kWorthSharing;
}

}  // namespace attune
