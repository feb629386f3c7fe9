#include "ops/infer_graph.h"

#include "ops/content.h"
#include "ops/convert.h"
#include "ops/node_traits.h"
#include "ops/registry.h"
#include "ops/run_node.h"

#include <algorithm>

namespace attune {
namespace {

// Folding is for shape arithmetic and small tables; weights are left to the rewrite passes.
constexpr int64_t kMostFoldedBytes = 64 * 1024;

/// One node under static analysis.
class StaticInfer final : public InferContext {
 public:
  StaticInfer(const Node& node, GraphFacts& facts) : InferContext(node), facts_(facts) {}

  const ValueType& input(int i) const override {
    static const ValueType none;
    return has_input(i) ? facts_.types[id(i)] : none;
  }
  const Tensor* constant(int i) const override {
    return has_input(i) && !facts_.constants[id(i)].empty() ? &facts_.constants[id(i)] : nullptr;
  }
  std::optional<std::vector<Dim>> content(int i) const override {
    if (!has_input(i)) return std::nullopt;
    if (const Tensor* tensor = constant(i)) return content_of(*tensor);
    return facts_.contents[id(i)];
  }
  void set_output(int i, DType dtype, std::optional<Shape> shape) override {
    if (!wants_output(i)) return;
    const auto dims = concrete(shape);
    if (dims && !checked_count(*dims))
      fail("output {} would have shape {}, whose size is negative or overflows", i, to_text(*dims));
    facts_.types[output_id(i)] = {dtype, std::move(shape)};
  }
  void set_content(int i, std::vector<Dim> content) override {
    if (wants_output(i) && static_cast<int64_t>(content.size()) <= kMostContentElements)
      facts_.contents[output_id(i)] = std::move(content);
  }
  std::vector<ValueType> infer_subgraph(const Graph& graph, std::span<const ValueType> inputs) override;

 private:
  size_t id(int i) const { return static_cast<size_t>(node().inputs[static_cast<size_t>(i)]); }
  size_t output_id(int i) const { return static_cast<size_t>(node().outputs[static_cast<size_t>(i)]); }
  GraphFacts& facts_;
};

class GraphInfer {
 public:
  explicit GraphInfer(const Graph& graph) : graph_(graph) {
    const size_t count = graph.values().size();
    facts_.types.resize(count);
    facts_.constants.resize(count);
    facts_.contents.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const Value& value = graph.values()[i];
      facts_.constants[i] = value.constant;
      if (value.is_constant() || value.producer == kNoNode) facts_.types[i] = {value.dtype, value.shape};
    }
  }

  GraphFacts& facts() { return facts_; }

  GraphFacts run() {
    for (const Node& node : graph_.nodes()) infer_node(node);
    return std::move(facts_);
  }

 private:
  void infer_node(const Node& node) {
    const OpDef& op = require_op(node);
    StaticInfer context(node, facts_);
    op.infer(context);
    fold(node);
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      complete(static_cast<size_t>(id));
      settle(static_cast<size_t>(id));
    }
  }

  /// Runs the kernel when every input is known and the result is small.
  void fold(const Node& node) {
    if (has_subgraph(node) || is_random(node)) return;
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue) {
        inputs.push_back(nullptr);
        continue;
      }
      const Tensor& tensor = facts_.constants[static_cast<size_t>(id)];
      if (tensor.empty() || tensor.size_bytes() > kMostFoldedBytes) return;
      inputs.push_back(&tensor);
    }
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      const ValueType& type = facts_.types[static_cast<size_t>(id)];
      const auto dims = concrete(type.shape);
      const auto count = dims ? checked_count(*dims) : std::nullopt;
      const auto bytes = count ? byte_size(type.dtype, *count) : std::nullopt;
      if (!bytes || *bytes > kMostFoldedBytes) return;
    }
    try {
      std::vector<Tensor> outputs = run_node(node, inputs);
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNoValue) facts_.constants[static_cast<size_t>(node.outputs[i])] = std::move(outputs[i]);
    } catch (const Error&) {
      // A branch that never runs may hold impossible arithmetic; a node that does run reports it then.
    }
  }

  /// Contents whose every element turned out to be a number are a constant like any other.
  void settle(size_t id) {
    if (!facts_.constants[id].empty() || !facts_.contents[id]) return;
    const auto numbers = concrete(*facts_.contents[id]);
    const auto dims = concrete(facts_.types[id].shape);
    const DType dtype = facts_.types[id].dtype;
    if (!numbers || !dims || dims->size() > 1 || checked_count(*dims) != static_cast<int64_t>(numbers->size())) return;
    if (dtype != DType::i64 && dtype != DType::i32) return;
    facts_.constants[id] = convert(Tensor::from<int64_t>(*dims, *numbers), dtype);
  }

  /// What inference left open is taken from the model's own declarations.
  void complete(size_t id) {
    const Value& declared = graph_.values()[id];
    ValueType& type = facts_.types[id];
    if (type.dtype == DType::undefined) type.dtype = declared.dtype;
    if (!declared.shape) return;
    if (!type.shape) {
      type.shape = declared.shape;
      return;
    }
    if (type.shape->size() != declared.shape->size()) return;
    for (size_t axis = 0; axis < type.shape->size(); ++axis)
      if ((*type.shape)[axis].is_unknown()) (*type.shape)[axis] = (*declared.shape)[axis];
  }

  const Graph& graph_;
  GraphFacts facts_;
};

std::vector<ValueType> StaticInfer::infer_subgraph(const Graph& graph, std::span<const ValueType> inputs) {
  GraphInfer inner(graph);
  GraphFacts& facts = inner.facts();
  for (size_t i = 0; i < graph.inputs.size() && i < inputs.size(); ++i)
    facts.types[static_cast<size_t>(graph.inputs[i])] = inputs[i];
  for (const Capture& capture : graph.captures) {
    const auto outer = static_cast<size_t>(capture.outer), own = static_cast<size_t>(capture.inner);
    facts.types[own] = facts_.types[outer];
    facts.constants[own] = facts_.constants[outer];
    facts.contents[own] = facts_.contents[outer];
  }
  std::vector<ValueType> outputs(graph.outputs.size());
  try {
    const GraphFacts done = inner.run();
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = done.types[static_cast<size_t>(graph.outputs[i])];
  } catch (const UserError&) {
    // A branch for other shapes than these need not fit them; what it would give is not known.
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].dtype = graph.value(graph.outputs[i]).dtype;
  }
  return outputs;
}

void check_arity(const Node& node, const OpDef& op) {
  const auto fits = [](size_t count, Arity arity) {
    return static_cast<int>(count) >= arity.min && static_cast<int>(count) <= arity.max;
  };
  if (!fits(node.inputs.size(), op.inputs))
    throw UserError("op '{}' (node '{}') has {} inputs, expected {} to {}", node.op, node.name, node.inputs.size(),
                    op.inputs.min, op.inputs.max == kVariadic ? "any number" : std::to_string(op.inputs.max));
  if (!fits(node.outputs.size(), op.outputs))
    throw UserError("op '{}' (node '{}') has {} outputs, expected {} to {}", node.op, node.name, node.outputs.size(),
                    op.outputs.min, op.outputs.max == kVariadic ? "any number" : std::to_string(op.outputs.max));
  for (int i = 0; i < op.inputs.min; ++i)
    if (node.inputs[static_cast<size_t>(i)] == kNoValue)
      throw UserError("op '{}' (node '{}') omits its required input {}", node.op, node.name, i);
}

}  // namespace

GraphFacts infer_graph(const Graph& graph, const InferOptions& options) {
  GraphInfer infer(graph);
  for (const ValueId id : graph.inputs) {
    const auto given = options.input_shapes.find(graph.value(id).name);
    if (given != options.input_shapes.end())
      infer.facts().types[static_cast<size_t>(id)].shape = to_shape(given->second);
  }
  for (const auto& [id, type] : options.types) infer.facts().types[static_cast<size_t>(id)] = type;
  for (const auto& [id, tensor] : options.contents) infer.facts().constants[static_cast<size_t>(id)] = tensor;
  return infer.run();
}

void apply_facts(Graph& graph, const GraphFacts& facts) {
  for (size_t i = 0; i < facts.types.size(); ++i) {
    graph.values()[i].dtype = facts.types[i].dtype;
    graph.values()[i].shape = facts.types[i].shape;
  }
}

void check_operators(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    check_arity(node, require_op(node));
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) check_operators(**body);
  }
}

}  // namespace attune
