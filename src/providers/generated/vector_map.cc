#include "providers/generated/vector_map.h"

#include "providers/generated/map_generator.h"
#include "providers/generated/vector_expressions.h"
#include "providers/generated/vector_operands.h"
#include "providers/generated/vector_parameters.h"

namespace attune {
namespace {

using namespace codegen;
using generated::AlignedOperand;

std::variant<MapKernel, Refusal> describe(const Workload& workload) {
  const auto found = generated::find_expression(workload);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
  const auto& op = std::get<generated::ElementwiseOp>(found);
  if (workload.outputs.size() != 1 || !workload.outputs[0]) return refuse("a vector kernel writes one output");
  const TensorSpec& output = workload.output(0);
  MapKernel kernel;
  kernel.expression = op.expression;
  std::vector<AlignedOperand> operands;
  for (const int position : op.inputs) {
    if (!workload.has_input(static_cast<size_t>(position))) return refuse("input {} is missing", position);
    const TensorSpec& input = workload.input(static_cast<size_t>(position));
    const auto element = generated::element_of(input.dtype);
    if (!element) return refuse("vector kernels compute on f32 and bf16, got {}", to_text(input));
    kernel.inputs.push_back({*element, position});
    const bool by_channel = op.alignment == generated::Alignment::channels_after_first && position > 0;
    if (by_channel && output.dims.size() < 2) return refuse("{} has no channels", to_text(output));
    operands.push_back(by_channel ? generated::align_channels(input, output.dims.size())
                                  : generated::align_right(input, output.dims.size()));
  }
  const auto element = generated::element_of(output.dtype);
  if (!element) return refuse("vector kernels compute f32 and bf16, got {}", to_text(output));
  kernel.output = *element;
  if (element_count(output.dims) == 0) return refuse("there is nothing to compute in an empty tensor");
  auto nest = generated::make_nest(operands, output);
  if (const auto* refusal = std::get_if<Refusal>(&nest)) return *refusal;
  kernel.nest = simplify(std::get<LoopNest>(std::move(nest)), operands.size());
  if (!has_vector_rows(kernel)) return refuse("operands in different orders: convert one of them first");
  return kernel;
}

MapKernel require_kernel(const Workload& workload) {
  auto described = describe(workload);
  if (const auto* refusal = std::get_if<Refusal>(&described)) throw UserError("{}", refusal->reason);
  return std::get<MapKernel>(std::move(described));
}

}  // namespace

std::optional<Refusal> VectorMapGenerator::find_refusal(const Workload& workload) const {
  auto described = describe(workload);
  if (auto* refusal = std::get_if<Refusal>(&described)) return std::move(*refusal);
  return std::nullopt;
}

std::vector<Config> VectorMapGenerator::offered(const Workload& workload) const {
  const Config usual = generated::usual_map_config(require_kernel(workload), workload);
  return {usual, generated::with(usual, {{"unroll", "1"}, {"task_elements", "4096"}}),
          generated::with(usual, {{"unroll", "4"}, {"task_elements", "65536"}})};
}

void VectorMapGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  generated::declare_map(require_kernel(workload), space);
}

GeneratedKernel VectorMapGenerator::emit(const Workload& workload, const Config& config) const {
  return generated::emit_map_kernel(require_kernel(workload), workload, config);
}

}  // namespace attune
