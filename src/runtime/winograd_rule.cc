#include "runtime/winograd_rule.h"

#include <algorithm>

namespace attune {
namespace {

constexpr int64_t kFewestChannels = 64;
constexpr int64_t kSmallestMap = 7;

bool all_ones(const Node& node, const char* name) {
  const auto found = node.attributes.find(name);
  const auto* values = found == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
  return values == nullptr || std::all_of(values->begin(), values->end(), [](int64_t v) { return v == 1; });
}

bool has_channels(const Dims& weights) { return weights[0] >= kFewestChannels && weights[1] >= kFewestChannels; }

}  // namespace

bool suits_winograd(const Node& node, const Dims& weights) {
  return weights.size() == 4 && weights[2] == 3 && weights[3] == 3 && has_channels(weights) &&
         all_ones(node, "strides") && all_ones(node, "dilations");
}

bool winograd_pays(const Workload& workload) {
  if (workload.inputs.size() < 2 || workload.input(1).dims.size() != 4 || workload.output(0).dims.size() != 4)
    return false;
  const Dims& result = workload.output(0).dims;
  return has_channels(workload.input(1).dims) && result[2] >= kSmallestMap && result[3] >= kSmallestMap;
}

}  // namespace attune
