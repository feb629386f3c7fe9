#include "runtime/run_state.h"

#include "base/parallel.h"

#include <algorithm>
#include <cstring>

namespace attune {
namespace {

void check_output(const Slot& slot, DType dtype, const Dims& dims, const Tensor& room) {
  if (room.dtype() == dtype && room.dims() == dims) return;
  throw UserError("output '{}' is {} {}, but the memory given for it is {} {}", slot.name, dtype_name(dtype),
                  to_text(dims), dtype_name(room.dtype()), to_text(room.dims()));
}

}  // namespace

RunState::RunState(const Plan& plan)
    : plan_(plan),
      arena_(Tensor::lasting(DType::u8, {plan.arena_bytes})),
      output_memory_(std::make_shared<OutputMemory>(plan.outputs.size())),
      roots_(plan.slots.size()),
      root_offsets_(plan.slots.size(), 0),
      pointers_(plan.slots.size(), nullptr),
      tensors_(plan.slots.size()),
      states_(plan.steps.size()) {
  size_t most_inputs = 0, most_outputs = 0;
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    roots_[i] = static_cast<SlotId>(i);
    while (plan.slots[static_cast<size_t>(roots_[i])].kind == Slot::Kind::view) {
      const Slot& view = plan.slots[static_cast<size_t>(roots_[i])];
      root_offsets_[i] += view.source_offset;
      roots_[i] = view.source;
    }
    if (slot.kind == Slot::Kind::arena) pointers_[i] = arena_.mutable_bytes() + slot.offset;
    if (slot.kind == Slot::Kind::constant) pointers_[i] = const_cast<std::byte*>(slot.constant.bytes());
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.kernel) states_[i] = step.kernel->make_state();
    most_inputs = std::max(most_inputs, step.inputs.size());
    most_outputs = std::max(most_outputs, step.outputs.size());
  }
  input_pointers_.resize(most_inputs);
  output_pointers_.resize(most_outputs);
}

void RunState::begin(std::span<const Tensor> given, std::span<const Tensor> outputs) {
  for (size_t i = 0; i < plan_.inputs.size(); ++i) hold(plan_.inputs[i], given[i]);
  for (size_t i = 0; i < plan_.captures.size(); ++i) hold(plan_.captures[i], given[plan_.inputs.size() + i]);
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const SlotId id = plan_.outputs[i];
    const auto at = static_cast<size_t>(root(id));
    const Slot& slot = plan_.slots[static_cast<size_t>(id)];
    const bool known = slot.kind != Slot::Kind::dynamic && slot.kind != Slot::Kind::input;
    if (!outputs[i].empty() && known) check_output(slot, slot.spec.dtype, slot.spec.dims, outputs[i]);
    // A value may be several outputs; the one that the plan chose is written directly.
    if (plan_.slots[at].kind != Slot::Kind::output || plan_.slots[at].index != static_cast<int>(i)) continue;
    const Tensor& wanted = outputs[i];
    hold(root(id), wanted.empty() ? output_memory_->take(slot.spec.dtype, slot.spec.dims) : wanted);
  }
}

void RunState::take_outputs(std::span<Tensor> outputs) {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const SlotId id = plan_.outputs[i];
    const Slot::Kind kind = plan_.slots[static_cast<size_t>(root(id))].kind;
    Tensor result = tensor(id);
    if (!outputs[i].empty()) {
      check_output(plan_.slots[static_cast<size_t>(id)], result.dtype(), result.dims(), outputs[i]);
      if (result.bytes() != outputs[i].bytes())
        std::memcpy(outputs[i].mutable_bytes(), result.bytes(), static_cast<size_t>(result.size_bytes()));
      continue;
    }
    // The arena is used again by the next run, and the caller's input stays the caller's.
    const bool borrowed = kind == Slot::Kind::arena || kind == Slot::Kind::input || kind == Slot::Kind::constant;
    if (borrowed || !is_whole(id)) result = result.clone();
    outputs[i] = std::move(result);
  }
}

void RunState::release() {
  for (const SlotId id : held_) tensors_[static_cast<size_t>(id)] = Tensor();
  held_.clear();
}

void RunState::run_kernel(const Step& step, size_t index) {
  for (size_t i = 0; i < step.inputs.size(); ++i)
    input_pointers_[i] = step.inputs[i] == kNoSlot ? nullptr : pointer(step.inputs[i]);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    output_pointers_[i] = step.outputs[i] == kNoSlot ? nullptr : pointer(step.outputs[i]);
  const KernelArguments arguments{{input_pointers_.data(), step.inputs.size()},
                                  {output_pointers_.data(), step.outputs.size()},
                                  step.prepared,
                                  arena_.mutable_bytes() + step.workspace_offset,
                                  states_[index].get()};
  if (step.tasks == 1) return step.kernel->run(arguments, 0, 1);
  parallel_for(step.tasks, 1, [&](int64_t begin, int64_t end) { step.kernel->run(arguments, begin, end); });
}

Tensor RunState::tensor(SlotId id) const {
  const auto at = static_cast<size_t>(root(id));
  const TensorSpec& spec = plan_.slots[static_cast<size_t>(id)].spec;
  const Tensor& held = tensors_[at];
  const bool part = kind_of(id) == Slot::Kind::view && !is_whole(id);
  if (!held.empty() && !part) {
    // Only the tensor itself knows the dims of what came from outside or was made at run time.
    const Slot::Kind kind = kind_of(id);
    const bool own_dims = kind == Slot::Kind::dynamic || kind == Slot::Kind::input;
    return own_dims || held.dims() == spec.dims ? held : held.reshaped(spec.dims);
  }
  return Tensor::borrow(spec.dtype, spec.dims, pointer(id), nullptr);
}

void RunState::set_dynamic(SlotId id, Tensor tensor) { hold(id, std::move(tensor)); }

/// Kernels never write their inputs; the pointer table is shared with outputs, hence the cast.
void RunState::hold(SlotId id, Tensor tensor) {
  held_.push_back(id);
  pointers_[static_cast<size_t>(id)] = const_cast<std::byte*>(tensor.bytes());
  tensors_[static_cast<size_t>(id)] = std::move(tensor);
}

std::unique_ptr<RunState> RunStatePool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto state = std::move(free_.back());
      free_.pop_back();
      return state;
    }
  }
  auto state = std::make_unique<RunState>(plan_);
  const std::lock_guard lock(mutex_);
  free_.reserve(static_cast<size_t>(++made_));  // so that giving back cannot fail
  return state;
}

void RunStatePool::give_back(std::unique_ptr<RunState> state) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(state));
}

int64_t RunStatePool::made() {
  const std::lock_guard lock(mutex_);
  return made_;
}

}  // namespace attune
