#include "runtime/winograd_rule.h"

#include <algorithm>

namespace attune {
namespace {

constexpr int64_t kFewestChannels = 32, kFewestOfLibrary = 64;
constexpr int64_t kSmallestMap = 7;

bool all_ones(const Node& node, const char* name) {
  const auto found = node.attributes.find(name);
  const auto* values = found == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
  return values == nullptr || std::all_of(values->begin(), values->end(), [](int64_t v) { return v == 1; });
}

bool has_channels(const Dims& weights, int64_t fewest) { return weights[0] >= fewest && weights[1] >= fewest; }

}  // namespace

bool suits_winograd(const Node& node, const Dims& weights) {
  return weights.size() == 4 && weights[2] == 3 && weights[3] == 3 && has_channels(weights, kFewestChannels) &&
         all_ones(node, "strides") && all_ones(node, "dilations");
}

bool winograd_pays(const Workload& workload, const Provider& provider) {
  if (workload.inputs.size() < 2 || workload.input(1).dims.size() != 4 || workload.output(0).dims.size() != 4)
    return false;
  const Dims& result = workload.output(0).dims;
  const int64_t fewest = provider.name() == "generated" ? kFewestChannels : kFewestOfLibrary;
  return has_channels(workload.input(1).dims, fewest) && result[2] >= kSmallestMap && result[3] >= kSmallestMap;
}

bool is_winograd(const Config& config) {
  const auto has = [&](const char* name, std::string_view value) {
    const auto found = config.find(name);
    return found != config.end() && found->second == value;
  };
  return has("algorithm", "winograd") || has("generator", "cube_winograd");
}

}  // namespace attune
