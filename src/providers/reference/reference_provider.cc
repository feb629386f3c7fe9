#include "providers/reference/reference_provider.h"

#include "kernel/reorder.h"
#include "ops/registry.h"
#include "ops/run_node.h"
#include "providers/reference/layout_copy.h"

#include <algorithm>

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
/// Whether every element of the output depends on the elements at the same place only.
bool is_elementwise(const Workload& workload) {
  if (find_op(workload.domain, workload.op, workload.version)->layout_class == LayoutClass::irrelevant) return true;
  const bool scales = workload.op == "QuantizeLinear" || workload.op == "DequantizeLinear";
  return scales && element_count(workload.input(1).dims) == 1;
}

/// Elementwise operators on channels-last operands of the same dims: the same places of storage hold what belongs
/// together, so the operator runs on the storage as it is. (Blocked layouts have padding, which must stay zero.)
bool runs_on_storage(const Workload& workload) {
  if (!is_elementwise(workload)) return false;
  const Dims& dims = workload.output(0).dims;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs) {
      if (!spec || (spec->layout == Layout::plain && element_count(spec->dims) == 1)) continue;
      if (spec->layout != Layout::nhwc || spec->dims != dims) return false;
    }
  return true;
}

/// The workload with channels-last operands as plain ones of the dims that their storage has.
Workload on_storage(Workload workload) {
  for (auto* specs : {&workload.inputs, &workload.outputs})
    for (auto& spec : *specs) {
      if (!spec || spec->layout != Layout::nhwc) continue;
      std::rotate(spec->dims.begin() + 1, spec->dims.begin() + 2, spec->dims.end());
      spec->layout = Layout::plain;
    }
  return workload;
}

/// Runs the operator's own kernel on the given buffers.
class OperatorKernel final : public Kernel {
 public:
  explicit OperatorKernel(const Workload& workload)
      : workload_(on_storage(workload)), node_(workload.node(), input_kinds(workload_)) {}

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
      if (spec && spec->layout != Layout::plain && !runs_on_storage(workload))
        return refuse("reference kernels take plain tensors, or channels-last ones that are all alike, got {}",
                      to_text(spec));
  return Offer{{Config{}}};
}

std::unique_ptr<Kernel> ReferenceProvider::build(const Workload& workload, const Config& config) const {
  if (!config.empty()) throw UserError("the reference has no choices, got '{}'", to_text(config));
  if (is_reorder(workload)) return std::make_unique<ReorderKernel>(workload);
  return std::make_unique<OperatorKernel>(workload);
}

}  // namespace attune
