#include "runtime/random_inputs.h"

#include "base/random.h"
#include "ops/convert.h"

#include <algorithm>

namespace attune {
namespace {

/// The smallest table that an integer input indexes, through casts and reshapes; 2 when it indexes none.
int64_t index_bound(const Graph& graph, ValueId input) {
  constexpr int64_t kFlag = 2;  // masks and switches
  std::vector<bool> follows(graph.values().size(), false);
  follows[static_cast<size_t>(input)] = true;
  int64_t bound = INT64_MAX;
  for (const Node& node : graph.nodes()) {
    const bool is_gather =
        node.op == "Gather" && node.inputs.size() == 2 && follows[static_cast<size_t>(node.inputs[1])];
    if (is_gather && graph.value(node.inputs[0]).is_constant()) {
      const Tensor& table = graph.value(node.inputs[0]).constant;
      const auto found = node.attributes.find("axis");
      const int64_t axis = found == node.attributes.end() ? 0 : std::get<int64_t>(found->second);
      const auto position = normalize_axis(axis, table.rank());
      if (position) bound = std::min(bound, table.dim(*position));
    }
    const bool passes = node.op == "Cast" || node.op == "Reshape" || node.op == "Unsqueeze" || node.op == "Squeeze" ||
                        node.op == "Identity" || node.op == "Flatten" || node.op == "Transpose";
    if (passes && !node.inputs.empty() && node.inputs[0] != kNoValue && follows[static_cast<size_t>(node.inputs[0])])
      for (const ValueId id : node.outputs)
        if (id != kNoValue) follows[static_cast<size_t>(id)] = true;
  }
  return bound == INT64_MAX ? kFlag : std::max<int64_t>(bound, 1);
}

Dims input_dims(const Value& value, const std::map<std::string, Dims>& shapes) {
  const auto given = shapes.find(value.name);
  if (given != shapes.end()) return given->second;
  if (const auto dims = concrete(value.shape)) return *dims;
  throw UserError("input '{}' has shape {}, which is open; give it with --shapes {}:{}", value.name,
                  to_text(value.shape), value.name, value.shape ? "…" : "1x3x224x224");
}

Tensor random_tensor(DType dtype, const Dims& dims, int64_t bound, Random& random) {
  if (is_float(dtype)) {
    Tensor values = Tensor::allocate(DType::f32, dims);
    float* out = values.mutable_data<float>();
    for (int64_t i = 0; i < values.count(); ++i) out[i] = static_cast<float>(random.normal());
    return convert(values, dtype);
  }
  Tensor values = Tensor::allocate(DType::i64, dims);
  int64_t* out = values.mutable_data<int64_t>();
  for (int64_t i = 0; i < values.count(); ++i) out[i] = random.below(bound);
  return convert(values, dtype);
}

}  // namespace

std::vector<Tensor> random_inputs(const Graph& graph, const std::map<std::string, Dims>& shapes, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs[i]);
    Random random(seed * 0x9E3779B97F4A7C15ull + i);
    inputs.push_back(
        random_tensor(value.dtype, input_dims(value, shapes), index_bound(graph, graph.inputs[i]), random));
  }
  return inputs;
}

}  // namespace attune
