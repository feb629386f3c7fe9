#include "runtime/generated_rule.h"

#include "ops/node_traits.h"

#include <algorithm>

namespace attune {
namespace {

bool is_generator(const Config& config, std::string_view name) {
  const auto generator = config.find("generator");
  return generator != config.end() && generator->second == name;
}

bool has_residual(const Workload& workload) {
  const auto steps = workload.attributes.find("epilogue");
  if (steps == workload.attributes.end()) return false;
  const auto* texts = std::get_if<std::vector<std::string>>(&steps->second);
  return texts != nullptr &&
         std::any_of(texts->begin(), texts->end(), [](const std::string& step) { return step.starts_with("add"); });
}

}  // namespace

bool generated_pays(const Workload& workload, const Config& config) {
  constexpr int64_t kVector = 16, kMostTileChannels = 256;
  if (workload.op != "Conv" && workload.op != "FusedConv") return false;
  const TensorSpec &src = workload.input(0), &weights = workload.input(1);
  if (src.layout != Layout::nhwc || src.dims.size() != 4 || !weights.constant) return false;
  if (is_generator(config, "cube_depthwise")) return true;
  if (attribute_or<int64_t>(workload.attributes, "group", 1) != 1) return false;
  const int64_t out = weights.dims[0], in = weights.dims[1];
  const bool pointwise = weights.dims[2] == 1 && weights.dims[3] == 1;
  if (pointwise && in >= kVector && (in % kVector != 0 || out % kVector != 0))
    return src.dtype == DType::f32 || is_generator(config, "cube_tiles");
  if (!pointwise || !is_generator(config, "cube_tiles")) return false;
  return in <= kMostTileChannels || has_residual(workload);
}

}  // namespace attune
