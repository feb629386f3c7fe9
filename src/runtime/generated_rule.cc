#include "runtime/generated_rule.h"

#include "ops/node_traits.h"

namespace attune {
namespace {

bool has(const Config& config, const char* name, std::string_view value) {
  const auto found = config.find(name);
  return found != config.end() && found->second == value;
}
bool is_by(const Config& config, std::string_view generator) { return has(config, "generator", generator); }

}  // namespace

bool generated_pays(const Workload& workload, const Config& config) {
  constexpr int64_t kVector = 16, kMostTileChannels = 256;
  if (workload.op == "MatMul" || workload.op == "FusedMatMul")
    return has(config, "fetch_next", "1") || has(config, "tiles_fetch_next", "1");
  if (workload.op != "Conv" && workload.op != "FusedConv") return false;
  const TensorSpec &src = workload.input(0), &weights = workload.input(1);
  if (src.dtype != DType::bf16 || src.layout != Layout::nhwc || src.dims.size() != 4 || !weights.constant) return false;
  if (is_by(config, "cube_depthwise")) return true;
  const int64_t out = weights.dims[0], in = weights.dims[1];
  const bool pointwise =
      weights.dims[2] == 1 && weights.dims[3] == 1 && attribute_or<int64_t>(workload.attributes, "group", 1) == 1;
  if (!pointwise || !is_by(config, "cube_tiles") || in < kVector) return false;
  return in % kVector != 0 || out % kVector != 0 || (out >= in && in <= kMostTileChannels);
}

bool only_generated_serves(const Workload& workload) {
  return workload.domain == "attune" && workload.op == "FusedVector";
}

}  // namespace attune
