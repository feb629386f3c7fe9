#include "runtime/generated_rule.h"

#include "base/parallel.h"
#include "codegen/cube/epilogue_text.h"
#include "device/cpu/cpu_info.h"
#include "ops/epilogue.h"
#include "ops/node_traits.h"

#include <algorithm>

namespace attune {
namespace {

bool has(const Config& config, const char* name, std::string_view value) {
  const auto found = config.find(name);
  return found != config.end() && found->second == value;
}
bool is_by(const Config& config, std::string_view generator) { return has(config, "generator", generator); }

/// A residual as large as a result that the second caches do not hold: the library's kernels add to it in place, which
/// passes memory twice where one beside the other passes it three times.
bool adds_to_memory(const Workload& workload) {
  const auto l2 = data_cache(cpu_info(), 2);
  constexpr int64_t kUsualCache = 1 << 20;  // where the system does not tell
  const int64_t cached = (l2 ? l2->size_bytes / std::max(1, l2->shared_by) : kUsualCache) * thread_count();
  if (storage_bytes(workload.output(0)).value_or(0) <= cached) return false;
  return std::ranges::any_of(parse_epilogue(workload.attributes), [&](const EpilogueStep& step) {
    return step.kind == EpilogueStep::Kind::add &&
           workload.input(static_cast<size_t>(step.input)).dims == workload.output(0).dims;
  });
}

}  // namespace

bool generated_pays(const Workload& workload, const Config& config, InputShapes shapes) {
  constexpr int64_t kVector = 16, kMostTileChannels = 256, kMostVectorChannels = 512;
  if (workload.op == "MatMul" || workload.op == "FusedMatMul")
    return has(config, "fetch_next", "1") || has(config, "tiles_fetch_next", "1");
  if (is_by(config, "attention")) return has(config, "products", "pairs") || has(config, "products", "tiles");
  if (is_by(config, "recurrent")) return shapes == InputShapes::fixed && workload.input(0).dtype == DType::f32;
  if (workload.op != "Conv" && workload.op != "FusedConv") return false;
  const TensorSpec &src = workload.input(0), &weights = workload.input(1);
  if (src.dtype != DType::bf16 || src.layout != Layout::nhwc || src.dims.size() != 4 || !weights.constant) return false;
  if (is_by(config, "cube_depthwise")) return true;
  const int64_t out = weights.dims[0], in = weights.dims[1];
  // The library's kernels spend more on functions of the results, though not enough to compile for every new shape.
  const bool has_functions = shapes == InputShapes::fixed && cube::has_functions(parse_epilogue(workload.attributes));
  if (is_by(config, "cube_bands")) return has_functions || (shapes == InputShapes::fixed && in < kVector);
  const bool pointwise =
      weights.dims[2] == 1 && weights.dims[3] == 1 && attribute_or<int64_t>(workload.attributes, "group", 1) == 1;
  if (pointwise && is_by(config, "cube_vectors")) return has_functions && in <= kMostVectorChannels;
  if (!pointwise || !is_by(config, "cube_tiles") || in < kVector) return false;
  if (in % kVector != 0 || out % kVector != 0 || has_functions) return true;
  return out >= in && in <= kMostTileChannels && !adds_to_memory(workload);
}

bool only_generated_serves(const Workload& workload) {
  return workload.domain == "attune" && (workload.op == "FusedVector" || workload.op == "ShuffledConv");
}

}  // namespace attune
