// A kernel: machine code that computes one workload, ready to run.
#pragma once

#include "graph/tensor.h"
#include "kernel/workload.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace attune {

/// What one run at a time may keep between calls, such as a library's handles. Made once for each concurrent run.
class KernelState {
 public:
  virtual ~KernelState() = default;
};

/// What a kernel runs on. Buffers are 64-byte aligned and as large as storage_bytes of their operand.
struct KernelArguments {
  std::span<const std::byte* const> inputs;  // nullptr where omitted, and where prepare() took the operand over
  std::span<std::byte* const> outputs;       // nullptr where omitted
  std::span<const Tensor> prepared;          // what prepare() returned
  std::byte* workspace = nullptr;            // of workspace_bytes(), contents undefined
  KernelState* state = nullptr;              // of make_state(), used by this run alone
};

/// Immutable: run() may be called from several threads at once with different arguments.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Scratch memory that run() needs, apart from inputs and outputs.
  virtual int64_t workspace_bytes() const { return 0; }

  /// Packs constants once, ahead of time (weights into the order the kernel reads them). constants[i] is nullptr where
  /// input i is not constant. The result is handed to every run(); it can be stored in a plan.
  virtual std::vector<Tensor> prepare(std::span<const Tensor* const> constants) const {
    static_cast<void>(constants);
    return {};
  }
  /// True when run() does not read input i because prepare() took it over.
  virtual bool takes_over(int i) const {
    static_cast<void>(i);
    return false;
  }

  /// The input whose buffer outputs[0] may be, when nothing reads that input afterwards; -1: none. The kernel then
  /// updates it in place; with two buffers it copies the input first.
  virtual int in_place_input() const { return -1; }

  virtual std::unique_ptr<KernelState> make_state() const { return nullptr; }

  /// What a plan keeps of the kernel so that Provider::build_from_artifact makes it again without the tools that
  /// build() needs, such as object code; empty: build() needs none. Lives as long as the kernel.
  virtual std::span<const std::byte> artifact() const { return {}; }

  /// Independent tasks that the work falls into; the runtime spreads them over its threads. Kernels of libraries that
  /// bring their own parallel loops have one task and run on the same pool.
  virtual int64_t task_count() const { return 1; }
  /// Computes tasks [begin, end).
  virtual void run(const KernelArguments& arguments, int64_t begin, int64_t end) const = 0;
};

}  // namespace attune
