// What the generators of MapKernels share: their space, their text and where they may write.
#pragma once

#include "codegen/vector/map_kernel.h"
#include "providers/generated/generator.h"

namespace attune::generated {

/// The config that is good without a search.
Config usual_map_config(const codegen::MapKernel& kernel, const Workload& workload);

void declare_map(const codegen::MapKernel& kernel, GeneratorSpace& space);

/// Text, tasks, and the input that the first output may take the place of.
GeneratedKernel emit_map_kernel(const codegen::MapKernel& kernel, const Workload& workload, const Config& config);

}  // namespace attune::generated
