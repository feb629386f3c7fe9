#include "job/layout_regions.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace attune {
namespace {

bool is_conversion(const Step& step) { return step.node == nullptr; }

bool has_maps(const Slot& slot) { return slot.spec.dims.size() >= 3 && slot.spec.dims.size() <= 5; }

/// One slot for each value: all of them have its dims.
std::map<std::string, const Slot*> slots_by_value(const Plan& plan) {
  std::map<std::string, const Slot*> result;
  for (const Slot& slot : plan.slots) result.emplace(slot.name, &slot);
  return result;
}

template <class Key> std::optional<size_t> find(const std::map<Key, size_t>& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

/// The region of a step: its node's, or that of the node which it is a part of (see unfuse.cc).
std::optional<size_t> region_of_step(const LayoutRegions& regions, const Step& step) {
  for (std::string label = step.label;; label.resize(label.rfind(' '))) {
    if (const auto region = find(regions.region_of_node, label)) return region;
    if (label.rfind(' ') == std::string::npos) return std::nullopt;
  }
}

/// The region that a conversion serves: of who made the value, else of who reads it.
std::optional<size_t> region_of_conversion(const LayoutRegions& regions, const Plan& plan, const Step& step) {
  if (const auto region = find(regions.region_of_value, plan.slots[static_cast<size_t>(step.inputs[0])].name))
    return region;
  for (const Step& reader : plan.steps)
    if (!is_conversion(reader) && std::ranges::find(reader.inputs, step.outputs[0]) != reader.inputs.end())
      return region_of_step(regions, reader);
  return std::nullopt;
}

}  // namespace

bool begins_layout_region(const Node& node) {
  constexpr std::string_view kOps[] = {"Conv", "FusedConv", "ShuffledConv", "ConvTranspose"};
  return std::ranges::find(kOps, node.op) != std::end(kOps);
}

LayoutRegions find_layout_regions(const Plan& plan) {
  LayoutRegions regions;
  const Graph& graph = *plan.graph;
  const auto slots = slots_by_value(plan);
  std::set<std::pair<std::string, size_t>> crossed;
  for (const Node& node : graph.nodes()) {
    // Whoever is no convolution takes the layout that it finds its first operand in.
    std::optional<size_t> own;
    if (begins_layout_region(node)) {
      own = regions.convolutions.size();
      regions.convolutions.push_back(node.name);
    } else {
      for (size_t i = 0; i < node.inputs.size() && !own; ++i)
        if (node.inputs[i] != kNoValue) own = find(regions.region_of_value, graph.value(node.inputs[i]).name);
    }
    if (!own) continue;
    regions.region_of_node[node.name] = *own;
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const std::string& name = graph.value(id).name;
      if (const auto slot = slots.find(name); slot != slots.end() && has_maps(*slot->second))
        regions.region_of_value[name] = *own;
    }
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      const std::string& name = graph.value(id).name;
      const auto other = find(regions.region_of_value, name);
      if (other && *other != *own && crossed.insert({name, *own}).second)
        regions.borders.push_back({*other, *own, slots.at(name)->bytes});
    }
  }
  return regions;
}

std::vector<double> region_times(const LayoutRegions& regions, const Plan& plan, std::span<const double> step_ms) {
  std::vector<double> times(regions.convolutions.size(), 0);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const auto region = is_conversion(step) ? region_of_conversion(regions, plan, step) : region_of_step(regions, step);
    if (region) times[*region] += step_ms[i];
  }
  return times;
}

double conversion_rate(const Plan& plan, std::span<const double> step_ms) {
  double ms = 0, bytes = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!is_conversion(plan.steps[i])) continue;
    ms += step_ms[i];
    bytes += static_cast<double>(plan.slots[static_cast<size_t>(plan.steps[i].outputs[0])].bytes);
  }
  return bytes > 0 ? ms / bytes : 0;
}

}  // namespace attune
