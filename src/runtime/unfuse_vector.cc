#include "runtime/unfuse_vector.h"

#include "ops/convert.h"
#include "ops/vector_program.h"

#include <algorithm>
#include <cmath>

namespace attune {

void take_vector_apart(Graph& graph, const GraphFacts& facts, const Node& fused, std::vector<Node>& nodes) {
  const VectorProgram program = parse_vector_program(fused.attributes);
  const auto shape = facts.types[static_cast<size_t>(fused.outputs[0])].shape;
  std::vector<DType> inputs;
  for (const ValueId id : fused.inputs)
    inputs.push_back(id == kNoValue ? DType::undefined : facts.types[static_cast<size_t>(id)].dtype);
  const auto types = program.types(inputs);
  std::vector<ValueId> results;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const VectorStep& step = program.steps[i];
    Node part = vector_step_node(step);
    part.name = fmt::format("{} {}", fused.name, to_text(step));
    for (size_t k = 0; k < step.operands.size(); ++k) {
      const VectorOperand& operand = step.operands[k];
      if (operand.kind == VectorOperand::Kind::input) {
        part.inputs[k] = fused.inputs[static_cast<size_t>(operand.index)];
      } else if (operand.kind == VectorOperand::Kind::step) {
        part.inputs[k] = results[static_cast<size_t>(operand.index)];
      } else if (step.op == "Clip" && std::isinf(operand.number)) {
        part.inputs[k] = kNoValue;  // a bound that is not there
      } else {
        part.inputs[k] = graph.add_constant(fmt::format("{}_{}", fused.name, operand.number),
                                            convert(Tensor::scalar<float>(operand.number), types[i]));
      }
    }
    while (part.inputs.back() == kNoValue) part.inputs.pop_back();
    const auto output = std::ranges::find(program.results, static_cast<int>(i));
    if (output != program.results.end()) {
      results.push_back(fused.outputs[static_cast<size_t>(output - program.results.begin())]);
    } else {
      Value between;
      between.name = graph.value(fused.outputs[0]).name + "_part";
      between.dtype = types[i];
      between.shape = shape;
      results.push_back(graph.add_value(std::move(between)));
    }
    part.outputs = {results.back()};
    nodes.push_back(std::move(part));
  }
}

}  // namespace attune
