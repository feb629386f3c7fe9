#include "ops/squeeze_excite.h"

#include "ops/convolution_parts.h"
#include "ops/families.h"
#include "ops/run_node.h"

#include <map>

namespace attune {
namespace {

constexpr const char* kSqueezeEpilogue = "squeeze_epilogue";
constexpr const char* kGateEpilogue = "gate_epilogue";
constexpr int kBaseOpset = 22;  // of the operators inside

std::vector<EpilogueStep> steps_of(const Attributes& attributes, const char* name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::vector<EpilogueStep>{} : parse_epilogue({{kEpilogueName, found->second}});
}

/// [out, in, 1, …], as many dims as the map has.
void check_weights(InferContext& context, int i, const Dim& out, const Dim& in, size_t rank) {
  const auto& weights = context.shape(i);
  if (!weights) return;
  if (weights->size() != rank) context.fail("weights {} have {} dims, expected {}", i, weights->size(), rank);
  const auto differs = [](const Dim& a, const Dim& b) { return a.is_known() && b.is_known() && !(a == b); };
  if (differs((*weights)[0], out) || differs((*weights)[1], in))
    context.fail("weights {} are {}, expected {} by {} channels", i, to_text(*weights), to_text(Shape{out}),
                 to_text(Shape{in}));
  for (size_t axis = 2; axis < rank; ++axis)
    if (differs((*weights)[axis], Dim(1))) context.fail("weights {} are {}, expected 1x1", i, to_text(*weights));
}

void infer_squeeze_excite(InferContext& context) {
  for (const EpilogueStep& step : squeeze_steps(context.node().attributes))
    if (step.is_binary()) context.fail("the squeeze epilogue has a step '{}' with an operand", to_text(step));
  check_operands(context, gate_steps(context.node().attributes), kGateOperands);
  const auto& map = context.shape(kExcitedMap);
  const auto& squeeze = context.shape(kSqueezeWeights);
  if (map && map->size() < 3) context.fail("the map has {} dims, expected at least 3", map->size());
  if (map && squeeze && !squeeze->empty()) {
    check_weights(context, kSqueezeWeights, (*squeeze)[0], (*map)[1], map->size());
    check_weights(context, kExciteWeights, (*map)[1], (*squeeze)[0], map->size());
  }
  context.set_output(0, context.input(kExcitedMap).dtype, map);
}

void squeeze_excite_kernel(KernelContext& context) {
  // Inputs by their position, and three more for what lies between.
  Node numbered = context.node();
  for (size_t i = 0; i < numbered.inputs.size(); ++i)
    if (numbered.inputs[i] != kNoValue) numbered.inputs[i] = static_cast<ValueId>(i);
  const auto first = static_cast<ValueId>(numbered.inputs.size());
  const SqueezeExciteParts parts = squeeze_excite_parts(numbered, {first, first + 1, first + 2});
  std::map<ValueId, Tensor> between;
  const auto run = [&](const Node& node) {
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == kNoValue ? nullptr : id >= first ? &between.at(id) : &context.input(id));
    return run_node(node, inputs)[0];
  };
  for (const Node* node : {&parts.pool, &parts.squeeze, &parts.excite}) between[node->outputs[0]] = run(*node);
  context.set_output(0, run(parts.product));
}

double squeeze_excite_flops(const CostContext& context) {
  const Dims map = context.input_dims(kExcitedMap), squeeze = context.input_dims(kSqueezeWeights);
  if (map.size() < 3 || squeeze.size() != map.size()) return 0;
  const auto images = static_cast<double>(map[0]);
  return 2 * static_cast<double>(element_count(map)) + 4 * images * static_cast<double>(element_count(squeeze));
}

const OpDef kOps[] = {
    {.domain = "attune",
     .name = "SqueezeExcite",
     .since = 1,
     .inputs = {3, kVariadic},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_squeeze_excite,
     .kernel = squeeze_excite_kernel,
     .flops = squeeze_excite_flops},
};

}  // namespace

Node squeeze_excite(ValueId map, const Node& squeeze, const Node& excite, const Node& product) {
  Node fused = product;
  fused.domain = "attune";
  fused.op = "SqueezeExcite";
  fused.version = 1;
  fused.attributes.clear();
  if (const auto found = squeeze.attributes.find(kEpilogueName); found != squeeze.attributes.end())
    fused.attributes[kSqueezeEpilogue] = found->second;
  if (excite.attributes.count(kEpilogueName) > 0)
    fused.attributes[kGateEpilogue] = with_operands_at(excite.attributes, kConvOperands, kGateOperands);
  fused.inputs = {map, squeeze.inputs[1], excite.inputs[1], input_or_none(squeeze, 2), input_or_none(excite, 2)};
  for (size_t i = kConvOperands; i < excite.inputs.size(); ++i) fused.inputs.push_back(excite.inputs[i]);
  while (fused.inputs.back() == kNoValue) fused.inputs.pop_back();
  return fused;
}

SqueezeExciteParts squeeze_excite_parts(const Node& fused, const SqueezeExciteValues& between) {
  const auto plain = [&](const char* part, const char* op, std::vector<ValueId> inputs, ValueId output) {
    Node node;
    node.name = fused.name + part;
    node.op = op;
    node.version = kBaseOpset;
    node.inputs = std::move(inputs);
    node.outputs = {output};
    return node;
  };
  const ValueId map = fused.inputs[kExcitedMap];
  SqueezeExciteParts parts;
  parts.pool = plain(" mean", "GlobalAveragePool", {map}, between.mean);
  parts.squeeze =
      plain(" squeeze", "Conv", {between.mean, fused.inputs[kSqueezeWeights], input_or_none(fused, kSqueezeBias)},
            between.squeezed);
  if (const auto found = fused.attributes.find(kSqueezeEpilogue); found != fused.attributes.end())
    parts.squeeze.attributes[kEpilogueName] = found->second;
  name_convolution(parts.squeeze);
  parts.excite =
      plain(" excite", "Conv", {between.squeezed, fused.inputs[kExciteWeights], input_or_none(fused, kExciteBias)},
            between.gate);
  if (const auto found = fused.attributes.find(kGateEpilogue); found != fused.attributes.end())
    parts.excite.attributes[kEpilogueName] =
        with_operands_at({{kEpilogueName, found->second}}, kGateOperands, kConvOperands);
  for (size_t i = kGateOperands; i < fused.inputs.size(); ++i) parts.excite.inputs.push_back(fused.inputs[i]);
  name_convolution(parts.excite);
  parts.product = plain("", "Mul", {map, between.gate}, fused.outputs[0]);
  return parts;
}

std::vector<EpilogueStep> squeeze_steps(const Attributes& attributes) { return steps_of(attributes, kSqueezeEpilogue); }
std::vector<EpilogueStep> gate_steps(const Attributes& attributes) { return steps_of(attributes, kGateEpilogue); }

std::span<const OpDef> squeeze_excite_ops() { return kOps; }

}  // namespace attune
