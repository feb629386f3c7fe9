#include "rewrite/resize_by_factors.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <cmath>

namespace attune::rewrite {
namespace {

constexpr int kUpsampleOpset = 7;  // the newest whose scales are an attribute

/// Both of these take element floor(y / factor) when the factor is whole.
bool repeats_elements(const Node& node) {
  const std::string where = attribute_or<std::string>(node.attributes, "coordinate_transformation_mode", "half_pixel");
  const std::string nearest = attribute_or<std::string>(node.attributes, "nearest_mode", "round_prefer_floor");
  return attribute_or<std::string>(node.attributes, "mode", "nearest") == "nearest" &&
         ((where == "asymmetric" && nearest == "floor") ||
          (where == "half_pixel" && nearest == "round_prefer_floor")) &&
         node.attributes.count("axes") == 0 && attribute_or<int64_t>(node.attributes, "antialias", 0) == 0;
}

/// Scales as Upsample takes them, when they are known, whole and leave the first two axes alone.
std::optional<std::vector<float>> whole_factors(const Graph& graph, const Node& node) {
  constexpr size_t kScales = 2, kSizes = 3;
  if (node.inputs.size() > kSizes && node.inputs[kSizes] != kNoValue) return std::nullopt;
  const Tensor* scales = constant_input(graph, node, kScales);
  if (scales == nullptr || scales->count() < 3) return std::nullopt;
  std::vector<float> factors;
  for (int64_t i = 0; i < scales->count(); ++i) {
    const double factor = element_as_double(*scales, i);
    if (factor < 1 || factor != std::floor(factor) || (i < 2 && factor != 1)) return std::nullopt;
    factors.push_back(static_cast<float>(factor));
  }
  return factors;
}

}  // namespace

int resize_by_factors(Graph& graph) {
  int changes = 0;
  for (Node& node : graph.nodes()) {
    if (!node.domain.empty() || node.op != "Resize" || node.version < 11 || !repeats_elements(node)) continue;
    const auto factors = whole_factors(graph, node);
    if (!factors) continue;
    node.op = "Upsample";
    node.version = kUpsampleOpset;
    node.inputs.resize(1);
    node.attributes = {{"mode", std::string("nearest")}, {"scales", *factors}};
    ++changes;
  }
  return changes;
}

}  // namespace attune::rewrite
