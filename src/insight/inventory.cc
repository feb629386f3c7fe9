#include "insight/inventory.h"

#include "ops/registry.h"

#include <algorithm>

namespace attune {
namespace {

void count_weights(const Tensor& tensor, Inventory& inventory) {
  inventory.weight_bytes += tensor.size_bytes();
  if (is_float(tensor.dtype()) || (is_integer(tensor.dtype()) && bit_width(tensor.dtype()) <= 8))
    inventory.parameters += tensor.count();
}

/// Running mean and variance are measured, not trained: they are weights in the file but no parameters.
std::vector<bool> statistics_of(const Graph& graph) {
  std::vector<bool> statistics(graph.values().size(), false);
  for (const Node& node : graph.nodes()) {
    if (node.op != "BatchNormalization") continue;
    for (size_t i = 3; i < node.inputs.size(); ++i)
      if (node.inputs[i] != kNoValue) statistics[static_cast<size_t>(node.inputs[i])] = true;
  }
  return statistics;
}

void visit(const Graph& graph, Inventory& inventory, std::map<std::pair<std::string, int>, OperatorCount>& operators) {
  const std::vector<bool> statistics = statistics_of(graph);
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const Tensor& constant = graph.values()[i].constant;
    if (constant.empty()) continue;
    if (statistics[i])
      inventory.weight_bytes += constant.size_bytes();
    else
      count_weights(constant, inventory);
  }
  for (const Node& node : graph.nodes()) {
    const std::string name = node.domain.empty() ? node.op : node.domain + "::" + node.op;
    OperatorCount& entry = operators[{name, node.version}];
    entry.op = name;
    entry.opset = node.version;
    entry.supported = find_op(node.domain, node.op, node.version) != nullptr;
    ++entry.count;
    for (const auto& [attribute_name, attribute] : node.attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) visit(**body, inventory, operators);
      if (const auto* tensor = std::get_if<Tensor>(&attribute); tensor && node.op == "Constant")
        count_weights(*tensor, inventory);
    }
  }
}

}  // namespace

Inventory take_inventory(const Graph& graph) {
  Inventory inventory;
  std::map<std::pair<std::string, int>, OperatorCount> operators;
  visit(graph, inventory, operators);
  for (auto& [key, entry] : operators) inventory.operators.push_back(std::move(entry));
  std::stable_sort(inventory.operators.begin(), inventory.operators.end(),
                   [](const OperatorCount& a, const OperatorCount& b) { return a.count > b.count; });
  return inventory;
}

ModelCost model_cost(const std::vector<WorkloadCount>& workloads) {
  ModelCost total;
  for (const WorkloadCount& workload : workloads) {
    total.cost.flops += workload.cost.flops * static_cast<double>(workload.count());
    total.cost.bytes += workload.cost.bytes * static_cast<double>(workload.count());
    total.complete &= workload.shapes_known;
  }
  return total;
}

}  // namespace attune
