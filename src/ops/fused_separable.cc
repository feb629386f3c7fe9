#include "ops/fused_separable.h"

#include "ops/convolution_parts.h"
#include "ops/epilogue.h"
#include "ops/families.h"
#include "ops/node_traits.h"
#include "ops/registry.h"
#include "ops/run_node.h"

namespace attune {
namespace {

constexpr const char* kInnerEpilogue = "inner_epilogue";

void infer_fused_separable(InferContext& context) {
  const SeparableParts parts = separable_parts(context.node(), kNoValue);
  for (const EpilogueStep& step : parse_epilogue(parts.depthwise.attributes))
    if (step.is_binary()) context.fail("the inner epilogue has a step '{}' with an operand", to_text(step));
  check_operands(context, parse_epilogue(context.node().attributes), kSeparableOperands);
  constexpr int kBias = 2;  // of a convolution
  const auto position = [](int i) { return i == kBias ? static_cast<int>(kDepthwiseBias) : i; };
  PartInfer inner(parts.depthwise, context, position);
  require_op(parts.depthwise).infer(inner);
  const auto& weights = context.shape(kPointwiseWeights);
  std::optional<Shape> shape = inner.result.shape;
  if (weights && shape) {
    if (weights->size() != shape->size())
      context.fail("the 1x1 weights have {} dims, expected {}", weights->size(), shape->size());
    for (size_t i = 2; i < weights->size(); ++i)
      if ((*weights)[i].is_known() && (*weights)[i].value() != 1)
        context.fail("the second convolution is {}, expected 1x1", to_text(*weights));
    const Dim &given = (*shape)[1], &wanted = (*weights)[1];
    if (given.is_known() && wanted.is_known() && !(given == wanted))
      context.fail("the 1x1 weights take {} channels, and there are {}", wanted.value(), given.value());
    (*shape)[1] = (*weights)[0];
  } else {
    shape = std::nullopt;
  }
  context.set_output(0, inner.result.dtype, std::move(shape));
}

void fused_separable_kernel(KernelContext& context) {
  // Inputs by their position, and one more for what lies between.
  Node numbered = context.node();
  for (size_t i = 0; i < numbered.inputs.size(); ++i)
    if (numbered.inputs[i] != kNoValue) numbered.inputs[i] = static_cast<ValueId>(i);
  const auto middle = static_cast<ValueId>(numbered.inputs.size());
  const SeparableParts parts = separable_parts(numbered, middle);
  Tensor between;
  const auto run = [&](const Node& node) {
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == kNoValue ? nullptr : id == middle ? &between : &context.input(id));
    return run_node(node, inputs)[0];
  };
  between = run(parts.depthwise);
  context.set_output(0, run(parts.pointwise));
}

double fused_separable_flops(const CostContext& context) {
  const Dims result = context.output_dims(0), depthwise = context.input_dims(kDepthwiseWeights);
  if (result.size() < 3 || depthwise.size() != result.size()) return 0;
  double taps = 1, pixels = 1;
  for (size_t i = 2; i < depthwise.size(); ++i) taps *= static_cast<double>(depthwise[i]);
  for (size_t i = 0; i < result.size(); ++i)
    if (i != 1) pixels *= static_cast<double>(result[i]);
  const auto channels = static_cast<double>(depthwise[0]);
  return 2 * pixels * channels * (taps + static_cast<double>(result[1]));
}

const OpDef kOps[] = {
    {.domain = "attune",
     .name = "FusedSeparable",
     .since = 1,
     .inputs = {3, kVariadic},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_fused_separable,
     .kernel = fused_separable_kernel,
     .flops = fused_separable_flops},
};

}  // namespace

Node fused_separable(const Node& depthwise, const Node& pointwise) {
  Node fused = pointwise;
  fused.domain = "attune";
  fused.op = "FusedSeparable";
  fused.version = 1;
  fused.attributes = depthwise.attributes;
  fused.attributes.erase(kEpilogueName);
  if (const auto inner = depthwise.attributes.find(kEpilogueName); inner != depthwise.attributes.end())
    fused.attributes[kInnerEpilogue] = inner->second;
  if (pointwise.attributes.count(kEpilogueName) > 0)
    fused.attributes[kEpilogueName] = with_operands_at(pointwise.attributes, kConvOperands, kSeparableOperands);
  fused.inputs = {depthwise.inputs[0], depthwise.inputs[1], pointwise.inputs[1], input_or_none(depthwise, 2),
                  input_or_none(pointwise, 2)};
  for (size_t i = kConvOperands; i < pointwise.inputs.size(); ++i) fused.inputs.push_back(pointwise.inputs[i]);
  while (fused.inputs.back() == kNoValue) fused.inputs.pop_back();
  return fused;
}

SeparableParts separable_parts(const Node& fused, ValueId between) {
  SeparableParts parts{fused, fused};
  Node& depthwise = parts.depthwise;
  depthwise.name = fused.name + " depthwise";
  depthwise.inputs = {fused.inputs[kSeparableMap], fused.inputs[kDepthwiseWeights],
                      input_or_none(fused, kDepthwiseBias)};
  depthwise.outputs = {between};
  depthwise.attributes.erase(kEpilogueName);
  if (const auto inner = fused.attributes.find(kInnerEpilogue); inner != fused.attributes.end()) {
    depthwise.attributes.erase(kInnerEpilogue);
    depthwise.attributes[kEpilogueName] = inner->second;
  }
  name_convolution(depthwise);
  Node& pointwise = parts.pointwise;
  pointwise.attributes.clear();
  if (fused.attributes.count(kEpilogueName) > 0)
    pointwise.attributes[kEpilogueName] = with_operands_at(fused.attributes, kSeparableOperands, kConvOperands);
  pointwise.inputs = {between, fused.inputs[kPointwiseWeights], input_or_none(fused, kPointwiseBias)};
  for (size_t i = kSeparableOperands; i < fused.inputs.size(); ++i) pointwise.inputs.push_back(fused.inputs[i]);
  name_convolution(pointwise);
  return parts;
}

std::span<const OpDef> fused_separable_ops() { return kOps; }

}  // namespace attune
