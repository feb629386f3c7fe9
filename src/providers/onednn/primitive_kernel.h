// A kernel that runs oneDNN primitives one after the other, with every handle made ahead of time.
#pragma once

#include "kernel/kernel.h"
#include "providers/onednn/engine.h"

#include <functional>
#include <vector>

namespace attune::onednn {

/// Where the memory of an argument comes from; `index` of the argument counts in the list of the same name.
enum class Source { input, output, prepared, temporary };

struct Argument {
  int id = 0;  // DNNL_ARG_…
  dnnl::memory::desc desc;
  Source source = Source::input;
  size_t index = 0;
};

/// The scratchpad is not listed: steps find it in the workspace. Primitives must have been made with
/// scratchpad_mode::user (see base_attributes).
struct PrimitiveStep {
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
  // Work around the primitives that the library has nothing for, instead of a primitive: gets the memory of the
  // arguments, in their order.
  std::function<void(std::span<std::byte* const> memory)> own = {};
};

/// One prepared tensor, made from constant inputs ahead of time.
struct Preparation {
  std::vector<int> takes_over;  // inputs that run() no longer reads
  std::function<Tensor(std::span<const Tensor* const> constants)> make;
};

struct PrimitiveProgram {
  std::vector<PrimitiveStep> steps;
  std::vector<Preparation> preparations;
  std::vector<dnnl::memory::desc> temporaries;  // live in the workspace during one run

  // Output 0 starts as this input, for primitives that add to their destination; -1: it starts with nothing.
  int in_place_input = -1;
  int64_t in_place_bytes = 0;

  /// Argument `id` is input `input`, which lies as `from`, in the order `to`: as it is when both are equal, packed
  /// ahead of time when it is constant, and otherwise reordered into a temporary by a step added here (so add the steps
  /// that read it afterwards).
  Argument packed_input(int id, const Workload& workload, size_t input, const dnnl::memory::desc& from,
                        const dnnl::memory::desc& to);

  /// Argument `id` is what `compute` makes of some inputs (their memory, in the order of `inputs`): ahead of time when
  /// all of them are constant, by a step added here otherwise. For small parameters: the inputs stay bound.
  using Compute = std::function<void(std::span<const std::byte* const> inputs, std::byte* result)>;
  Argument computed(int id, const Workload& workload, const std::vector<size_t>& inputs, const dnnl::memory::desc& desc,
                    Compute compute);
};

/// Attributes that every primitive here starts from: the scratchpad is ours.
dnnl::primitive_attr base_attributes();

/// Copies a tensor from one order to another, in the storage of a plain byte tensor.
Tensor reordered(const Tensor& tensor, const dnnl::memory::desc& from, const dnnl::memory::desc& to);

class PrimitiveKernel final : public Kernel {
 public:
  explicit PrimitiveKernel(PrimitiveProgram program);

  int64_t workspace_bytes() const override { return workspace_bytes_; }
  std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const override;
  bool takes_over(int i) const override;
  int in_place_input() const override { return program_.in_place_input; }
  std::unique_ptr<KernelState> make_state() const override;
  void run(const KernelArguments& arguments, int64_t begin, int64_t end) const override;

 private:
  PrimitiveProgram program_;
  int threads_;                             // that the primitives were made for
  std::vector<int64_t> temporary_offsets_;  // in the workspace
  int64_t scratchpad_offset_ = 0;           // one scratchpad serves all steps
  int64_t workspace_bytes_ = 0;
  bool needs_palette_ = false;  // some step reads the AMX palette from a CPUID that hides it
};

}  // namespace attune::onednn
