#include "kernel/check_workload.h"

#include "base/memory.h"
#include "ops/registry.h"

namespace attune {
namespace {

void check_sizes(const Workload& workload) {
  int64_t total = 0;
  for (const auto* operands : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *operands) {
      if (!spec) continue;
      const auto bytes = storage_bytes(*spec);
      if (!bytes || *bytes > INT64_MAX / 2 - total)
        throw UserError("{} has a negative or overflowing size", to_text(spec));
      total += *bytes;
    }
  check_memory(total, [] { return std::string("the operands of the workload"); });
}

/// The workload as a graph of one node, without the types of its outputs.
Graph graph_of(const Workload& workload) {
  Graph graph;
  Node node = workload.node();
  const auto shape_of = [](const TensorSpec& spec) { return Shape(spec.dims.begin(), spec.dims.end()); };
  for (size_t i = 0; i < workload.inputs.size(); ++i)
    node.inputs[i] = workload.inputs[i] ? graph.add_input(fmt::format("input{}", i), workload.input(i).dtype,
                                                          shape_of(workload.input(i)))
                                        : kNoValue;
  for (size_t i = 0; i < workload.outputs.size(); ++i) {
    node.outputs[i] = kNoValue;
    if (!workload.outputs[i]) continue;
    Value value;
    value.name = fmt::format("output{}", i);
    node.outputs[i] = graph.add_value(std::move(value));
    graph.outputs.push_back(node.outputs[i]);
  }
  graph.add_node(std::move(node));
  return graph;
}

}  // namespace

void check_workload(const Workload& workload) {
  check_sizes(workload);
  // Moves and gradients of attune's own have no definition among the operators; their providers check them.
  if (workload.domain == "attune" && find_op(workload.domain, workload.op, workload.version) == nullptr) return;
  const Graph graph = graph_of(workload);
  check_operators(graph);
  const GraphFacts facts = infer_graph(graph);
  const Node& node = graph.nodes().front();
  for (size_t i = 0; i < workload.outputs.size(); ++i) {
    if (!workload.outputs[i]) continue;
    const ValueType& type = facts.types[static_cast<size_t>(node.outputs[i])];
    const auto dims = concrete(type.shape);
    const TensorSpec& written = workload.output(i);
    if ((dims && *dims != written.dims) || (type.dtype != DType::undefined && type.dtype != written.dtype))
      throw UserError("output {} is written as {}[{}], but '{}' makes {}[{}] of these inputs", i,
                      dtype_name(written.dtype), to_text(written.dims), workload.op, dtype_name(type.dtype),
                      to_text(dims.value_or(written.dims)));
  }
}

}  // namespace attune
