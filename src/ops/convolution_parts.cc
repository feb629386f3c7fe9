#include "ops/convolution_parts.h"

namespace attune {

ValueId input_or_none(const Node& node, size_t i) { return i < node.inputs.size() ? node.inputs[i] : kNoValue; }

void name_convolution(Node& node) {
  constexpr int kConvOpset = 22;
  const bool fused = node.attributes.count(kEpilogueName) > 0;
  node.domain = fused ? "attune" : "";
  node.op = fused ? "FusedConv" : "Conv";
  node.version = fused ? 1 : kConvOpset;
  if (!fused && node.inputs.back() == kNoValue) node.inputs.pop_back();
}

Attribute with_operands_at(const Attributes& attributes, size_t from, size_t to) {
  auto steps = parse_epilogue(attributes);
  for (EpilogueStep& step : steps)
    if (step.is_binary()) step.input = static_cast<int>(static_cast<size_t>(step.input) - from + to);
  return epilogue_attribute(steps);
}

void check_operands(InferContext& context, std::span<const EpilogueStep> steps, size_t first) {
  for (const EpilogueStep& step : steps)
    if (step.is_binary() && (step.input < static_cast<int>(first) || !context.has_input(step.input)))
      context.fail("epilogue step '{}' names an input that the node does not have for it", to_text(step));
}

}  // namespace attune
