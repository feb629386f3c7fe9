// What one run of a plan needs for itself: arena, pointers, kernel states. Kept in a pool between runs.
#pragma once

#include "runtime/output_memory.h"
#include "runtime/plan.h"

#include <memory>
#include <mutex>
#include <vector>

namespace attune {

class RunState {
 public:
  explicit RunState(const Plan& plan);

  /// Binds the caller's tensors: inputs, and outputs to write to. An output that is empty() gets a fresh one.
  void begin(std::span<const Tensor> given, std::span<const Tensor> outputs);
  /// Hands the outputs over: into the caller's tensors where there are some, as tensors of their own elsewhere.
  void take_outputs(std::span<Tensor> outputs);

  /// Lets go of the caller's tensors; the end of every run, failed ones included.
  void release();

  void run_kernel(const Step& step, size_t index);
  /// A slot as a tensor, for steps that need dims at run time.
  Tensor tensor(SlotId id) const;
  void set_dynamic(SlotId id, Tensor tensor);

 private:
  void hold(SlotId id, Tensor tensor);
  SlotId root(SlotId id) const { return roots_[static_cast<size_t>(id)]; }
  std::byte* pointer(SlotId id) const {
    return pointers_[static_cast<size_t>(root(id))] + root_offsets_[static_cast<size_t>(id)];
  }
  Slot::Kind kind_of(SlotId id) const { return plan_.slots[static_cast<size_t>(id)].kind; }
  /// Whether a slot is all of its root's storage.
  bool is_whole(SlotId id) const {
    return plan_.slots[static_cast<size_t>(id)].bytes == plan_.slots[static_cast<size_t>(root(id))].bytes;
  }

  const Plan& plan_;
  Tensor arena_;
  std::shared_ptr<OutputMemory> output_memory_;
  std::vector<SlotId> roots_;                         // by slot: whose storage it uses
  std::vector<int64_t> root_offsets_;                 // by slot: where in that storage, in bytes
  std::vector<std::byte*> pointers_;                  // by root slot
  std::vector<Tensor> tensors_;                       // inputs, outputs and dynamic values, by root slot
  std::vector<SlotId> held_;                          // those of tensors_ that are not empty()
  std::vector<std::unique_ptr<KernelState>> states_;  // by step
  std::vector<const std::byte*> input_pointers_;
  std::vector<std::byte*> output_pointers_;
};

class RunStatePool {
 public:
  explicit RunStatePool(const Plan& plan) : plan_(plan) {}
  std::unique_ptr<RunState> take();
  void give_back(std::unique_ptr<RunState> state) noexcept;
  int64_t made();  // states so far: as many as ever ran at once

 private:
  const Plan& plan_;
  std::mutex mutex_;
  int64_t made_ = 0;
  std::vector<std::unique_ptr<RunState>> free_;
};

}  // namespace attune
