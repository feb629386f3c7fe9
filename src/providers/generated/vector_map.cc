#include "providers/generated/vector_map.h"

#include "codegen/text.h"
#include "codegen/vector/map_kernel.h"
#include "providers/generated/vector_expressions.h"
#include "providers/generated/vector_operands.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>

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

/// The input whose elements lie as those of the output do; each is read before its place is written.
int find_in_place(const MapKernel& kernel, const Workload& workload) {
  for (size_t k = 0; k < kernel.inputs.size(); ++k) {
    const auto& input = workload.input(static_cast<size_t>(kernel.inputs[k].position));
    const bool same = std::ranges::all_of(kernel.nest.loops,
                                          [&](const Loop& loop) { return loop.strides[k] == loop.strides.back(); });
    if (same && kernel.inputs[k].element == kernel.output && !input.constant && input.dims == workload.output(0).dims)
      return kernel.inputs[k].position;
  }
  return -1;
}

}  // namespace

std::optional<Refusal> VectorMapGenerator::find_refusal(const Workload& workload) const {
  auto described = describe(workload);
  if (auto* refusal = std::get_if<Refusal>(&described)) return std::move(*refusal);
  return std::nullopt;
}

std::vector<Config> VectorMapGenerator::offered(const Workload& workload) const {
  const MapKernel kernel = require_kernel(workload);
  const int lanes = widest_lanes(usable_isa());
  Config usual{{"lanes", std::to_string(lanes)}, {"unroll", "2"}, {"task_elements", "16384"}};
  if (can_store_past_cache(kernel, lanes)) usual["stores"] = generated::usual_stores(workload.output(0));
  return {usual, generated::with(usual, {{"unroll", "1"}, {"task_elements", "4096"}}),
          generated::with(usual, {{"unroll", "4"}, {"task_elements", "65536"}})};
}

void VectorMapGenerator::declare(const Workload& workload, GeneratorSpace& space) const {
  const MapKernel kernel = require_kernel(workload);
  space.ordinal("lanes", generated::lane_values());
  space.ordinal("unroll", {1, 2, 4});
  space.power_of_two("task_elements", 1024, 262144);
  if (can_store_past_cache(kernel, widest_lanes(usable_isa()))) space.categorical("stores", generated::kStores);
}

GeneratedKernel VectorMapGenerator::emit(const Workload& workload, const Config& config) const {
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
