#include "runtime/buffer_placement.h"

#include "runtime/memory_planner.h"

#include <algorithm>

namespace attune {
namespace {

/// The slot whose storage a view uses.
SlotId storage(const Plan& plan, SlotId id) {
  while (plan.slots[static_cast<size_t>(id)].kind == Slot::Kind::view) id = plan.slots[static_cast<size_t>(id)].source;
  return id;
}

/// A kernel that adds into one of its inputs writes where that input lies, when nothing reads it afterwards.
void share_in_place(Plan& plan, std::vector<int64_t>& first, std::vector<int64_t>& last) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const int input = step.kernel ? step.kernel->in_place_input() : -1;
    if (input < 0 || step.inputs[static_cast<size_t>(input)] == kNoSlot) continue;
    const auto source = static_cast<size_t>(storage(plan, step.inputs[static_cast<size_t>(input)]));
    const auto target = static_cast<size_t>(storage(plan, step.outputs[0]));
    Slot& output = plan.slots[target];
    const bool free_to_take = plan.slots[source].kind == Slot::Kind::arena && last[source] == static_cast<int64_t>(i);
    if (!free_to_take || source > target || output.kind != Slot::Kind::arena ||
        output.bytes != plan.slots[source].bytes)
      continue;
    // Another operand may be the same tensor, or a view of it.
    const auto lies_there = [&](SlotId id) {
      return id != kNoSlot && storage(plan, id) == static_cast<SlotId>(source);
    };
    if (std::count_if(step.inputs.begin(), step.inputs.end(), lies_there) > 1) continue;
    output.kind = Slot::Kind::view;
    output.source = static_cast<SlotId>(source);
    last[source] = std::max(last[source], last[target]);
    first[target] = -1;
  }
}

}  // namespace

void place_buffers(Plan& plan) {
  const auto count = static_cast<int64_t>(plan.steps.size());
  std::vector<int64_t> first(plan.slots.size(), -1), last(plan.slots.size(), -1);
  for (int64_t i = 0; i < count; ++i) {
    Step& step = plan.steps[static_cast<size_t>(i)];
    const auto use = [&](SlotId id) {
      if (id == kNoSlot) return;
      const auto at = static_cast<size_t>(storage(plan, id));
      if (first[at] < 0) first[at] = i;
      last[at] = i;
    };
    for (const SlotId id : step.outputs) use(id);
    for (const SlotId id : step.inputs) use(id);
    for (const auto& [value, id] : step.captures) use(id);
  }
  for (const SlotId id : plan.outputs) last[static_cast<size_t>(storage(plan, id))] = count;

  share_in_place(plan, first, last);
  std::vector<BufferLifetime> buffers;
  std::vector<int64_t*> places;
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    if (plan.slots[i].kind != Slot::Kind::arena || first[i] < 0) continue;
    buffers.push_back({plan.slots[i].bytes, first[i], last[i]});
    places.push_back(&plan.slots[i].offset);
  }
  for (int64_t i = 0; i < count; ++i) {
    Step& step = plan.steps[static_cast<size_t>(i)];
    if (!step.kernel || step.kernel->workspace_bytes() == 0) continue;
    buffers.push_back({step.kernel->workspace_bytes(), i, i});
    places.push_back(&step.workspace_offset);
  }
  const ArenaLayout layout = plan_arena(buffers);
  for (size_t i = 0; i < places.size(); ++i) *places[i] = layout.offsets[i];
  plan.arena_bytes = layout.bytes;
}

}  // namespace attune
