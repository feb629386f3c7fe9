#include "providers/generated/vector_chain.h"

#include "providers/generated/map_generator.h"
#include "providers/generated/vector_chain_text.h"
#include "providers/generated/vector_operands.h"
#include "providers/generated/vector_parameters.h"

namespace attune {
namespace {

using namespace codegen;
using generated::ChainText;

std::variant<MapKernel, Refusal> describe(const Workload& workload) {
  auto written = generated::write_chain(workload);
  if (const auto* refusal = std::get_if<Refusal>(&written)) return *refusal;
  ChainText& text = std::get<ChainText>(written);
  if (text.program.row_step() >= 0) return refuse("a step looks at whole rows");
  const TensorSpec& output = workload.output(0);
  MapKernel kernel;
  kernel.inputs = generated::chain_inputs(workload);
  kernel.output = *generated::element_of(output.dtype);
  VectorExpression& expression = kernel.expression;
  expression.statements = std::move(text.statements);
  expression.functions = std::move(text.functions);
  expression.definitions = std::move(text.definitions);
  expression.rounds_to_bf16 = text.rounds_to_bf16;
  for (size_t i = 0; i < text.program.results.size(); ++i) {
    const std::string value = fmt::format("t{}", text.program.results[i]);
    if (i == 0) {
      expression.result = value;
    } else {
      expression.further_results.push_back(value);
      kernel.further_outputs.push_back(*generated::element_of(workload.output(i).dtype));
    }
  }
  std::vector<generated::AlignedOperand> operands;
  for (const auto& input : workload.inputs) operands.push_back(generated::align_right(*input, output.dims.size()));
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

std::optional<Refusal> VectorChainGenerator::find_refusal(const Workload& workload) const {
  auto described = describe(workload);
  if (auto* refusal = std::get_if<Refusal>(&described)) return std::move(*refusal);
  return std::nullopt;
}

std::vector<Config> VectorChainGenerator::offered(const Workload& workload) const {
  const Config usual = generated::usual_map_config(require_kernel(workload), workload);
  return {usual, generated::with(usual, {{"unroll", "1"}, {"task_elements", "4096"}})};
}

void VectorChainGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  generated::declare_map(require_kernel(workload), space);
}

GeneratedKernel VectorChainGenerator::emit(const Workload& workload, const Config& config) const {
  return generated::emit_map_kernel(require_kernel(workload), workload, config);
}

}  // namespace attune
