#include "providers/generated/vector_chain.h"

#include "codegen/text.h"
#include "providers/generated/vector_chain_text.h"
#include "providers/generated/vector_operands.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>

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

/// Each vector is read before the first output is written there.
int find_in_place(const MapKernel& kernel, const Workload& workload) {
  for (size_t k = 0; k < kernel.inputs.size(); ++k) {
    const TensorSpec& input = workload.input(k);
    const bool same = std::ranges::all_of(kernel.nest.loops,
                                          [&](const Loop& loop) { return loop.strides[k] == loop.strides.back(); });
    if (same && kernel.inputs[k].element == kernel.output && !input.constant && input.dims == workload.output(0).dims)
      return static_cast<int>(k);
  }
  return -1;
}

}  // namespace

std::optional<Refusal> VectorChainGenerator::find_refusal(const Workload& workload) const {
  auto described = describe(workload);
  if (auto* refusal = std::get_if<Refusal>(&described)) return std::move(*refusal);
  return std::nullopt;
}

std::vector<Config> VectorChainGenerator::offered(const Workload& workload) const {
  const MapKernel kernel = require_kernel(workload);
  const int lanes = widest_lanes(usable_isa());
  Config usual{{"lanes", std::to_string(lanes)}, {"unroll", "2"}, {"task_elements", "16384"}};
  if (can_store_past_cache(kernel, lanes)) usual["stores"] = generated::usual_stores(workload.output(0));
  return {usual, generated::with(usual, {{"unroll", "1"}, {"task_elements", "4096"}})};
}

void VectorChainGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const MapKernel kernel = require_kernel(workload);
  space.ordinal("lanes", generated::lane_values());
  space.ordinal("unroll", {1, 2, 4});
  space.power_of_two("task_elements", 1024, 262144);
  if (can_store_past_cache(kernel, widest_lanes(usable_isa()))) space.categorical("stores", generated::kStores);
}

GeneratedKernel VectorChainGenerator::emit(const Workload& workload, const Config& config) const {
  const MapKernel kernel = require_kernel(workload);
  const generated::Parameters parameters(config);
  const MapConfig choice{.lanes = static_cast<int>(parameters.number("lanes")),
                         .unroll = static_cast<int>(parameters.number("unroll")),
                         .task_elements = parameters.number("task_elements"),
                         .stores = parameters.stores()};
  GeneratedKernel out;
  out.source = emit_map(kernel, choice, usable_isa(), header_comment({workload.key(), to_text(config)}));
  out.task_count = map_task_count(kernel, choice);
  out.in_place_input = find_in_place(kernel, workload);
  return out;
}

}  // namespace attune
