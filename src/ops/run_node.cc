#include "ops/run_node.h"

#include "ops/content.h"
#include "ops/registry.h"

#include <cstring>

namespace attune {
namespace {

/// Inference with every input at hand.
class RuntimeInfer final : public InferContext {
 public:
  RuntimeInfer(const Node& node, std::span<const Tensor* const> inputs)
      : InferContext(node), tensors_(inputs), types_(inputs.size()), outputs_(node.outputs.size()) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] != nullptr) types_[i] = {inputs[i]->dtype(), to_shape(inputs[i]->dims())};
  }

  const ValueType& input(int i) const override { return types_.at(static_cast<size_t>(i)); }
  const Tensor* constant(int i) const override { return has_input(i) ? tensors_[static_cast<size_t>(i)] : nullptr; }
  std::optional<std::vector<Dim>> content(int i) const override {
    if (!has_input(i)) return std::nullopt;
    return content_of(*tensors_[static_cast<size_t>(i)]);
  }
  void set_output(int i, DType dtype, std::optional<Shape> shape) override {
    if (i < output_count()) outputs_[static_cast<size_t>(i)] = {dtype, std::move(shape)};
  }
  void set_content(int, std::vector<Dim>) override {}  // the kernel computes it
  std::vector<ValueType> infer_subgraph(const Graph& graph, std::span<const ValueType>) override {
    return std::vector<ValueType>(graph.outputs.size());  // the run itself tells
  }

  std::vector<ValueType> take_outputs() { return std::move(outputs_); }
  const ValueType& output_type(int i) const { return outputs_[static_cast<size_t>(i)]; }

 private:
  std::span<const Tensor* const> tensors_;
  std::vector<ValueType> types_, outputs_;
};

class RuntimeKernel final : public KernelContext {
 public:
  RuntimeKernel(const Node& node, std::span<const Tensor* const> inputs, const RuntimeInfer& types,
                const RunNodeOptions& options)
      : KernelContext(node), inputs_(inputs), types_(types), options_(options), outputs_(node.outputs.size()) {}

  const Tensor& input(int i) const override {
    if (!has_input(i)) throw InternalError("op '{}' reads input {}, which its node omits", node().op, i);
    return *inputs_[static_cast<size_t>(i)];
  }
  Tensor& output(int i) override {
    Tensor& tensor = outputs_.at(static_cast<size_t>(i));
    if (!tensor.empty()) return tensor;
    const ValueType& type = types_.output_type(i);
    const auto dims = concrete(type.shape);
    if (!dims || type.dtype == DType::undefined)
      throw InternalError("op '{}' did not infer the type of output {} from concrete inputs", node().op, i);
    return allocate(i, type.dtype, *dims);
  }
  Tensor& allocate(int i, DType dtype, Dims dims) override {
    try {
      return outputs_.at(static_cast<size_t>(i)) = Tensor::allocate(dtype, std::move(dims));
    } catch (const UserError& error) {
      fail("output {}: {}", i, error.what());  // too large or impossible: say which node asks for it
    }
  }
  void set_output(int i, Tensor tensor) override { outputs_.at(static_cast<size_t>(i)) = std::move(tensor); }
  std::vector<Tensor> run_subgraph(const Graph& graph, std::span<const Tensor> inputs) override {
    if (!options_.run_subgraph) throw InternalError("op '{}' has a subgraph, but nothing here can run it", node().op);
    return options_.run_subgraph(graph, inputs);
  }
  uint64_t random_seed() const override {
    return options_.random_seed * 0x9E3779B97F4A7C15ull + std::hash<std::string>{}(node().name);
  }
  /// Computes into `tensor` unless the kernel sets a tensor of its own.
  void preset(int i, Tensor tensor) { outputs_.at(static_cast<size_t>(i)) = std::move(tensor); }
  std::vector<Tensor> take_outputs() {
    for (int i = 0; i < output_count(); ++i)
      if (wants_output(i) && outputs_[static_cast<size_t>(i)].empty())
        output(i);  // an empty tensor has nothing to fill
    return std::move(outputs_);
  }

 private:
  std::span<const Tensor* const> inputs_;
  const RuntimeInfer& types_;
  const RunNodeOptions& options_;
  std::vector<Tensor> outputs_;
};

}  // namespace

std::vector<Tensor> run_node(const Node& node, std::span<const Tensor* const> inputs, const RunNodeOptions& options) {
  const OpDef& op = require_op(node);
  RuntimeInfer types(node, inputs);
  op.infer(types);
  RuntimeKernel kernel(node, inputs, types, options);
  op.kernel(kernel);
  return kernel.take_outputs();
}

void run_node_into(const Node& node, std::span<const Tensor* const> inputs, std::span<Tensor> outputs,
                   const RunNodeOptions& options) {
  const OpDef& op = require_op(node);
  RuntimeInfer types(node, inputs);
  op.infer(types);
  RuntimeKernel kernel(node, inputs, types, options);
  for (size_t i = 0; i < outputs.size(); ++i) kernel.preset(static_cast<int>(i), outputs[i]);
  op.kernel(kernel);
  const std::vector<Tensor> results = kernel.take_outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty() || results[i].bytes() == outputs[i].bytes()) continue;
    if (results[i].size_bytes() != outputs[i].size_bytes())
      throw InternalError("op '{}' gave output {} as {}, planned was {}", node.op, i, to_text(results[i].dims()),
                          to_text(outputs[i].dims()));
    std::memcpy(outputs[i].mutable_bytes(), results[i].bytes(), static_cast<size_t>(results[i].size_bytes()));
  }
}

std::vector<ValueType> infer_node(const Node& node, std::span<const Tensor* const> inputs) {
  RuntimeInfer types(node, inputs);
  require_op(node).infer(types);
  return types.take_outputs();
}

}  // namespace attune
