// What one run of a plan needs for itself: arena, pointers, kernel states. Kept in a pool between runs.
#pragma once

#include "runtime/plan.h"

#include <memory>
#include <mutex>
#include <vector>

namespace attune {

class RunState {
 public:
  explicit RunState(const Plan& plan);

  /// Binds the caller's tensors and fresh ones for the outputs.
  void begin(std::span<const Tensor> given);
  /// The outputs, as tensors of their own.
  std::vector<Tensor> take_outputs();

  void run_kernel(const Step& step, size_t index);
  /// A slot as a tensor, for steps that need dims at run time.
  Tensor tensor(SlotId id) const;
  void set_dynamic(SlotId id, Tensor tensor);

 private:
  SlotId root(SlotId id) const { return roots_[static_cast<size_t>(id)]; }

  const Plan& plan_;
  Tensor arena_;
  std::vector<SlotId> roots_;                         // by slot: whose storage it uses
  std::vector<std::byte*> pointers_;                  // by root slot
  std::vector<Tensor> tensors_;                       // inputs, outputs and dynamic values, by root slot
  std::vector<std::unique_ptr<KernelState>> states_;  // by step
  std::vector<const std::byte*> input_pointers_;
  std::vector<std::byte*> output_pointers_;
};

class RunStatePool {
 public:
  explicit RunStatePool(const Plan& plan) : plan_(plan) {}
  std::unique_ptr<RunState> take();
  void give_back(std::unique_ptr<RunState> state);

 private:
  const Plan& plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RunState>> free_;
};

}  // namespace attune
