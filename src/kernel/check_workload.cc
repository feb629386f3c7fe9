#include "kernel/check_workload.h"

#include "base/memory.h"
#include "kernel/reorder.h"
#include "ops/conv_shape.h"
#include "ops/registry.h"

#include <algorithm>

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

void check_operands(const Workload& workload, size_t inputs, size_t most_outputs) {
  const auto there = [](const auto& spec) { return spec.has_value(); };
  if (workload.inputs.size() != inputs || !std::ranges::all_of(workload.inputs, there))
    throw UserError("'{}' has {} inputs, expected {}", workload.op, workload.inputs.size(), inputs);
  if (workload.outputs.empty() || workload.outputs.size() > most_outputs || !workload.outputs.front())
    throw UserError("'{}' has {} outputs, expected {}", workload.op, workload.outputs.size(),
                    most_outputs > 1 ? "1 or 2" : "1");
}

void check_reorder(const Workload& workload) {
  check_operands(workload, 1, 1);
  if (workload.input(0).dims != workload.output(0).dims)
    throw UserError("output 0 is written as {}, but 'Reorder' keeps the dims of {}", to_text(workload.output(0)),
                    to_text(workload.input(0)));
}

/// The gradient's operands are those of a convolution, one of them asked for.
void check_conv_gradient(const Workload& workload, const TensorSpec& src, const TensorSpec& weights,
                         const TensorSpec& dst) {
  const auto shape_of = [](const TensorSpec& spec) { return Shape(spec.dims.begin(), spec.dims.end()); };
  const Node node = workload.node();
  const auto made = conv_output_shape(OpContext(node), shape_of(src), shape_of(weights));
  const auto dims = concrete(made);
  if (!dims || *dims != dst.dims)
    throw UserError("'{}' is of a convolution of {} with {}, which does not make {}", workload.op, to_text(src),
                    to_text(weights), to_text(dst));
}

/// Moves and gradients of attune's own, which have no definition among the operators.
bool check_undefined(const Workload& workload) {
  if (is_reorder(workload)) {
    check_reorder(workload);
  } else if (workload.domain == "attune" && workload.op == "ConvGradData") {
    check_operands(workload, 2, 1);
    check_conv_gradient(workload, workload.output(0), workload.input(1), workload.input(0));
  } else if (workload.domain == "attune" && workload.op == "ConvGradWeights") {
    check_operands(workload, 2, 2);
    check_conv_gradient(workload, workload.input(0), workload.output(0), workload.input(1));
    if (workload.outputs.size() > 1 && workload.outputs[1] &&
        workload.output(1).dims != Dims{workload.output(0).dims[0]})
      throw UserError("output 1 is written as {}, but there are {} biases", to_text(workload.output(1)),
                      workload.output(0).dims[0]);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void check_workload(const Workload& workload) {
  check_sizes(workload);
  if (check_undefined(workload)) return;
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
