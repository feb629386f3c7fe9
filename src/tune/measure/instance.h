// A built kernel with all that calls of it need, ready to be timed.
#pragma once

#include "kernel/kernel.h"
#include "tune/measure/subject.h"

namespace attune::tune {

class KernelInstance {
 public:
  /// Packs the constants. With cold weights, as many copies of them as it takes to fill the second-level caches twice
  /// are used in turn: between two runs of a layer a model reads the weights of all the others, whereas its activations
  /// were just written. All other operands are the subject's, the same for every kernel.
  KernelInstance(std::unique_ptr<Kernel> kernel, Subject& subject);

  const Kernel& kernel() const { return *kernel_; }
  void call();  // once, on the next copy
  size_t copies() const { return sets_.size(); }

  double call_ns = 0;  // of its first calls, to choose how many make a sample; 0: not known yet
  bool verified = false;

  /// After it was timed: damage, or a result that is not the reference's any more. Empty: neither.
  std::string check_after_timing();

 private:
  /// The constants of one call.
  struct Set {
    std::vector<const std::byte*> inputs;
    std::vector<std::unique_ptr<GuardedBuffer>> constants;  // that the kernel did not take over
    std::vector<Tensor> prepared;
    std::unique_ptr<KernelState> state;
  };
  void add_set(std::vector<Tensor> prepared);

  Subject& subject_;
  std::unique_ptr<Kernel> kernel_;
  GuardedBuffer workspace_;
  std::vector<Set> sets_;
  std::vector<std::byte*> outputs_;
  size_t next_ = 0;
};

}  // namespace attune::tune
