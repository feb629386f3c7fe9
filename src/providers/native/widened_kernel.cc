#include "providers/native/widened_kernel.h"

#include "ops/convert.h"

#include <bit>

namespace attune::native {
namespace {

/// An operand that the inner kernel reads or writes, and where its f32 form lies in the workspace.
struct Operand {
  size_t position;
  int64_t count, offset;
};

// Inline, so that loops over them become vectors.
float widen(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// Rounded to the nearest, to the even one of two; what is no number stays none.
uint16_t narrow(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC0 : rounded);
}

class WidenedKernel final : public Kernel {
 public:
  WidenedKernel(const Workload& workload, std::unique_ptr<Kernel> inner)
      : inner_(std::move(inner)), bytes_((inner_->workspace_bytes() + 63) / 64 * 64) {
    for (size_t i = 0; i < workload.inputs.size(); ++i)
      if (workload.inputs[i] && !inner_->takes_over(static_cast<int>(i)))
        inputs_.push_back(place(i, workload.input(i)));
    for (size_t i = 0; i < workload.outputs.size(); ++i)
      if (workload.outputs[i]) outputs_.push_back(place(i, workload.output(i)));
  }

  int64_t workspace_bytes() const override { return bytes_; }
  bool takes_over(int input) const override { return inner_->takes_over(input); }

  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override {
    std::vector<Tensor> wide(constants.size());
    std::vector<const Tensor*> pointers(constants.size(), nullptr);
    for (size_t i = 0; i < constants.size(); ++i) {
      if (constants[i] == nullptr) continue;
      wide[i] = convert(*constants[i], DType::f32);
      pointers[i] = &wide[i];
    }
    return inner_->prepare(pointers);
  }

  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override {
    std::vector<const std::byte*> inputs(arguments.inputs.begin(), arguments.inputs.end());
    std::vector<std::byte*> outputs(arguments.outputs.begin(), arguments.outputs.end());
    for (const Operand& operand : inputs_) {
      const auto* from = reinterpret_cast<const uint16_t*>(arguments.inputs[operand.position]);
      auto* to = reinterpret_cast<float*>(arguments.workspace + operand.offset);
      for (int64_t i = 0; i < operand.count; ++i) to[i] = widen(from[i]);
      inputs[operand.position] = arguments.workspace + operand.offset;
    }
    for (const Operand& operand : outputs_) outputs[operand.position] = arguments.workspace + operand.offset;
    inner_->run({inputs, outputs, arguments.prepared, arguments.workspace, arguments.state}, begin, end);
    for (const Operand& operand : outputs_) {
      const auto* from = reinterpret_cast<const float*>(arguments.workspace + operand.offset);
      auto* to = reinterpret_cast<uint16_t*>(arguments.outputs[operand.position]);
      for (int64_t i = 0; i < operand.count; ++i) to[i] = narrow(from[i]);
    }
  }

 private:
  Operand place(size_t position, const TensorSpec& spec) {
    const Operand operand{position, element_count(spec.dims), bytes_};
    bytes_ += (operand.count * static_cast<int64_t>(sizeof(float)) + 63) / 64 * 64;
    return operand;
  }

  std::unique_ptr<Kernel> inner_;
  int64_t bytes_;
  std::vector<Operand> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Kernel> widen_kernel(const Workload& workload, std::unique_ptr<Kernel> inner) {
  return std::make_unique<WidenedKernel>(workload, std::move(inner));
}

Workload widened_workload(const Workload& workload) {
  Workload wide = workload;
  for (auto* specs : {&wide.inputs, &wide.outputs})
    for (auto& spec : *specs)
      if (spec && spec->dtype == DType::bf16) spec->dtype = DType::f32;
  return wide;
}

}  // namespace attune::native
