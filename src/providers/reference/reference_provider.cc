#include "providers/reference/reference_provider.h"

#include "kernel/reorder.h"
#include "ops/registry.h"
#include "ops/run_node.h"
#include "providers/reference/layout_copy.h"

namespace attune {
namespace {

std::vector<std::optional<PreparedNode::Input>> input_kinds(const Workload& workload) {
  std::vector<std::optional<PreparedNode::Input>> kinds;
  for (const auto& spec : workload.inputs)
    kinds.push_back(
        spec ? std::optional(PreparedNode::Input{spec->dtype, static_cast<int64_t>(spec->dims.size()), spec->constant})
             : std::nullopt);
  return kinds;
}

/// The operands as tensors. Most lie in the arena, at the same address in every run.
struct Operands final : KernelState {
  std::vector<Tensor> inputs, outputs;
  std::vector<const Tensor*> input_pointers;  // nullptr where omitted

  explicit Operands(const Workload& workload)
      : inputs(workload.inputs.size()), outputs(workload.outputs.size()), input_pointers(inputs.size(), nullptr) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (workload.inputs[i]) input_pointers[i] = &inputs[i];
  }
  void bind(const Workload& workload, const KernelArguments& arguments) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (workload.inputs[i] && (inputs[i].empty() || inputs[i].bytes() != arguments.inputs[i]))
        inputs[i] = Tensor::borrow(workload.input(i).dtype, workload.input(i).dims, arguments.inputs[i], nullptr);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (workload.outputs[i] && (outputs[i].empty() || outputs[i].bytes() != arguments.outputs[i]))
        outputs[i] = Tensor::wrap(workload.output(i).dtype, workload.output(i).dims, arguments.outputs[i]);
  }
};

/// Runs the operator's own kernel on the given buffers.
class OperatorKernel final : public Kernel {
 public:
  explicit OperatorKernel(const Workload& workload)
      : workload_(workload), node_(workload.node(), input_kinds(workload)) {}

  std::unique_ptr<KernelState> make_state() const override { return std::make_unique<Operands>(workload_); }

  void run(const KernelArguments& arguments, int64_t, int64_t) const override {
    std::unique_ptr<KernelState> own;
    if (arguments.state == nullptr) own = make_state();
    auto& operands = static_cast<Operands&>(own ? *own : *arguments.state);
    operands.bind(workload_, arguments);
    node_.run_into(operands.input_pointers, operands.outputs);
  }

 private:
  Workload workload_;
  PreparedNode node_;
};

class ReorderKernel final : public Kernel {
 public:
  explicit ReorderKernel(const Workload& workload) : source_(workload.input(0)), target_(workload.output(0)) {}
  void run(const KernelArguments& arguments, int64_t, int64_t) const override {
    copy_layout(source_, arguments.inputs[0], target_, arguments.outputs[0]);
  }

 private:
  TensorSpec source_, target_;
};

}  // namespace

std::variant<Offer, Refusal> ReferenceProvider::offer(const Workload& workload) const {
  if (is_reorder(workload)) {
    if (workload.input(0).dtype != workload.output(0).dtype || bit_width(workload.input(0).dtype) < 8)
      return refuse("a reorder of {} into {} is not a copy of whole elements", dtype_name(workload.input(0).dtype),
                    dtype_name(workload.output(0).dtype));
    return Offer{{Config{}}};
  }
  if (find_op(workload.domain, workload.op, workload.version) == nullptr)
    return refuse("operator '{}' opset {} is not defined", workload.op, workload.version);
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec && spec->layout != Layout::plain)
        return refuse("reference kernels take plain tensors, got {}", to_text(spec));
  return Offer{{Config{}}};
}

std::unique_ptr<Kernel> ReferenceProvider::build(const Workload& workload, const Config& config) const {
  if (!config.empty()) throw UserError("the reference has no choices, got '{}'", to_text(config));
  if (is_reorder(workload)) return std::make_unique<ReorderKernel>(workload);
  return std::make_unique<OperatorKernel>(workload);
}

}  // namespace attune
