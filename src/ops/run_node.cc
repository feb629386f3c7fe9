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
                RunNodeOptions options)
      : KernelContext(node),
        inputs_(inputs),
        types_(types),
        options_(std::move(options)),
        outputs_(node.outputs.size()) {}

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
  RunNodeOptions options_;
  std::vector<Tensor> outputs_;
};

/// Computes into tensors that exist already, one for each output; nothing is allocated.
class KernelInto final : public KernelContext {
 public:
  KernelInto(const Node& node, std::span<const Tensor* const> inputs, std::span<Tensor> outputs)
      : KernelContext(node), inputs_(inputs), outputs_(outputs) {}

  const Tensor& input(int i) const override {
    if (!has_input(i)) throw InternalError("op '{}' reads input {}, which its node omits", node().op, i);
    return *inputs_[static_cast<size_t>(i)];
  }
  Tensor& output(int i) override { return at(i); }
  Tensor& allocate(int i, DType dtype, Dims dims) override {
    if (dtype != at(i).dtype() || dims != at(i).dims()) refuse(i, dims);
    return at(i);
  }
  void set_output(int i, Tensor tensor) override {
    Tensor& planned = at(i);
    if (tensor.size_bytes() != planned.size_bytes()) refuse(i, tensor.dims());
    if (tensor.bytes() != planned.bytes())
      std::memcpy(planned.mutable_bytes(), tensor.bytes(), static_cast<size_t>(tensor.size_bytes()));
  }
  std::vector<Tensor> run_subgraph(const Graph&, std::span<const Tensor>) override {
    throw InternalError("op '{}' has a subgraph, but nothing here can run it", node().op);
  }
  uint64_t random_seed() const override { return std::hash<std::string>{}(node().name); }

 private:
  Tensor& at(int i) const {
    if (static_cast<size_t>(i) >= outputs_.size() || outputs_[static_cast<size_t>(i)].empty())
      throw InternalError("op '{}' writes output {}, which its node omits", node().op, i);
    return outputs_[static_cast<size_t>(i)];
  }
  [[noreturn]] void refuse(int i, const Dims& dims) const {
    throw InternalError("op '{}' gave output {} as {}, planned was {}", node().op, i, to_text(dims),
                        to_text(outputs_[static_cast<size_t>(i)].dims()));
  }

  std::span<const Tensor* const> inputs_;
  std::span<Tensor> outputs_;
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

void run_node_into(const Node& node, std::span<const Tensor* const> inputs, std::span<Tensor> outputs) {
  const OpDef& op = require_op(node);
  RuntimeInfer types(node, inputs);
  op.infer(types);
  RuntimeKernel kernel(node, inputs, types, {});
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

PreparedNode::PreparedNode(Node node, std::span<const std::optional<Input>> inputs)
    : node_(std::move(node)), op_(&require_op(node_)) {
  // Planning inferred the types already. Inference also refuses contents that a kernel relies on, such as an axis out
  // of range; contents that come at run time are scalars, vectors or integers.
  for (const auto& input : inputs) direct_ &= !input || input->constant || (input->rank >= 2 && is_float(input->dtype));
  for (const ValueId output : node_.outputs) direct_ &= output != kNoValue;
}

void PreparedNode::run_into(std::span<const Tensor* const> inputs, std::span<Tensor> outputs) const {
  if (!direct_) return run_node_into(node_, inputs, outputs);
  KernelInto kernel(node_, inputs, outputs);
  op_->kernel(kernel);
}

std::vector<ValueType> infer_node(const Node& node, std::span<const Tensor* const> inputs) {
  RuntimeInfer types(node, inputs);
  require_op(node).infer(types);
  return types.take_outputs();
}

}  // namespace attune
