#include "providers/generated/map_generator.h"

#include "codegen/text.h"
#include "providers/generated/vector_parameters.h"

#include <algorithm>

namespace attune::generated {

using namespace codegen;

namespace {

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

Config usual_map_config(const MapKernel& kernel, const Workload& workload) {
  const int lanes = widest_lanes(usable_isa());
  Config usual{{"lanes", std::to_string(lanes)}, {"unroll", "2"}, {"task_elements", "16384"}};
  if (can_store_past_cache(kernel, lanes)) usual["stores"] = usual_stores(workload.output(0));
  return usual;
}

void declare_map(const MapKernel& kernel, GeneratorSpace& space) {
  space.ordinal("lanes", lane_values());
  space.ordinal("unroll", {1, 2, 4});
  space.power_of_two("task_elements", 1024, 262144);
  if (can_store_past_cache(kernel, widest_lanes(usable_isa()))) space.categorical("stores", kStores);
}

GeneratedKernel emit_map_kernel(const MapKernel& kernel, const Workload& workload, const Config& config) {
  const Parameters parameters(config);
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

}  // namespace attune::generated
