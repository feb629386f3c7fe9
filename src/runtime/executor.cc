#include "runtime/executor.h"

#include "ops/infer_graph.h"
#include "ops/run_node.h"

namespace attune {

/// One graph with its last uses worked out, so that a value is freed as soon as nothing reads it any more.
class ReferenceExecutor::GraphRunner {
 public:
  explicit GraphRunner(const Graph& graph) : graph_(graph), last_reads_(graph.nodes().size()) {
    std::vector<int64_t> last(graph.values().size(), -1);
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const Node& node = graph.nodes()[i];
      for (const ValueId id : node.outputs) note(last, id, i);  // an output that nothing reads dies at once
      for (const ValueId id : node.inputs) note(last, id, i);
      for (const auto& [name, attribute] : node.attributes) {
        const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute);
        if (body == nullptr) continue;
        for (const Capture& capture : (*body)->captures) note(last, capture.outer, i);
        bodies_.emplace(body->get(), std::make_unique<GraphRunner>(**body));
      }
    }
    for (const ValueId id : graph.outputs) last[static_cast<size_t>(id)] = -1;  // outputs stay
    for (size_t value = 0; value < last.size(); ++value)
      if (last[value] >= 0) last_reads_[static_cast<size_t>(last[value])].push_back(static_cast<ValueId>(value));
  }

  std::vector<Tensor> run(std::span<const Tensor> inputs, std::span<const Tensor> outer_values,
                          const RunOptions& options) const {
    if (inputs.size() != graph_.inputs.size())
      throw UserError("graph '{}' takes {} inputs, got {}", graph_.name, graph_.inputs.size(), inputs.size());
    std::vector<Tensor> values(graph_.values().size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = graph_.values()[i].constant;
    for (size_t i = 0; i < inputs.size(); ++i) values[static_cast<size_t>(graph_.inputs[i])] = inputs[i];
    for (const Capture& capture : graph_.captures)
      values[static_cast<size_t>(capture.inner)] = outer_values[static_cast<size_t>(capture.outer)];
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      run_one(graph_.nodes()[i], values, options);
      for (const ValueId id : last_reads_[i]) values[static_cast<size_t>(id)] = Tensor();
    }
    std::vector<Tensor> outputs;
    for (const ValueId id : graph_.outputs) outputs.push_back(values[static_cast<size_t>(id)]);
    return outputs;
  }

 private:
  static void note(std::vector<int64_t>& last, ValueId id, size_t node) {
    if (id != kNoValue) last[static_cast<size_t>(id)] = static_cast<int64_t>(node);
  }

  void run_one(const Node& node, std::vector<Tensor>& values, const RunOptions& options) const {
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(id == kNoValue ? nullptr : &values[static_cast<size_t>(id)]);
    RunNodeOptions node_options;
    node_options.random_seed = options.seed;
    node_options.run_subgraph = [&](const Graph& body, std::span<const Tensor> body_inputs) {
      return bodies_.at(&body)->run(body_inputs, values, options);
    };
    std::vector<Tensor> outputs = run_node(node, inputs, node_options);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (node.outputs[i] != kNoValue) values[static_cast<size_t>(node.outputs[i])] = std::move(outputs[i]);
  }

  const Graph& graph_;
  std::vector<std::vector<ValueId>> last_reads_;  // by node: values that nothing reads after it
  std::map<const Graph*, std::unique_ptr<GraphRunner>> bodies_;
};

ReferenceExecutor::ReferenceExecutor(const Graph& graph) {
  check_operators(graph);
  runner_ = std::make_unique<GraphRunner>(graph);
}
ReferenceExecutor::~ReferenceExecutor() = default;

std::vector<Tensor> ReferenceExecutor::run(std::span<const Tensor> inputs, const RunOptions& options) const {
  return runner_->run(inputs, {}, options);
}

void check_input(const Value& input, DType dtype, const Dims& dims) {
  if (input.dtype != DType::undefined && dtype != input.dtype)
    throw UserError("input '{}' takes {}, got {}", input.name, dtype_name(input.dtype), dtype_name(dtype));
  if (!input.shape) return;
  bool fits = input.shape->size() == dims.size();
  for (size_t i = 0; fits && i < dims.size(); ++i)
    fits = !(*input.shape)[i].is_known() || (*input.shape)[i].value() == dims[i];
  if (!fits) throw UserError("input '{}' takes shape {}, got {}", input.name, to_text(input.shape), to_text(dims));
}

void check_input(const Value& input, const Tensor& tensor) { check_input(input, tensor.dtype(), tensor.dims()); }

}  // namespace attune
