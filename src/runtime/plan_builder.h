// A plan in the making: the slots of values in their layouts, conversions where layouts differ, steps with their packed
// constants. What steps there are is decided by planner.cc.
#pragma once

#include "runtime/planner.h"

#include <map>
#include <set>

namespace attune {

class PlanBuilder {
 public:
  /// All but the graph, which the plan keeps, must outlive the builder.
  PlanBuilder(std::shared_ptr<const Graph> graph, const GraphFacts& facts, const PlanOptions& options,
              PlanCache& cache);

  const Graph& graph() const { return graph_; }
  const GraphFacts& facts() const { return facts_; }
  const PlanOptions& options() const { return options_; }
  PlanCache& cache() const { return cache_; }
  Plan& plan() { return plan_; }

  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }
  bool is_constant(ValueId id) const { return !facts_.constants[static_cast<size_t>(id)].empty(); }

  SlotId new_slot(Slot slot) {
    plan_.slots.push_back(std::move(slot));
    return static_cast<SlotId>(plan_.slots.size() - 1);
  }
  Slot& slot(SlotId id) { return plan_.slots[static_cast<size_t>(id)]; }
  /// The slot whose storage a view uses.
  SlotId storage(SlotId id) {
    while (slot(id).kind == Slot::Kind::view) id = slot(id).source;
    return id;
  }

  /// The slot of an input or captured value.
  SlotId add_given(ValueId id, int index);
  /// Says where a value lies, in the layout that its producer writes.
  void place(ValueId id, Layout layout, SlotId slot) {
    home_[id] = layout;
    slots_[{id, layout}] = slot;
  }
  /// The layout that a value's producer wrote; nothing for constants.
  std::optional<Layout> home(ValueId id) const {
    const auto found = home_.find(id);
    return found == home_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The slot of a value in a layout, converted when it lies in another one.
  SlotId get(ValueId id, Layout layout);

  void mark_dynamic(ValueId id) { dynamic_.insert(id); }
  /// Whether a value's shape is known at run time only.
  bool is_dynamic(ValueId id) const { return dynamic_.count(id) > 0; }

  /// What an earlier plan chose for this step, when its workload is the same one.
  std::optional<KernelChoice> recorded_choice(const std::string& label, const Workload& workload) const;
  /// Builds the chosen kernel, packs its constants and appends the step.
  void finish_step(Step step, KernelChoice choice);

  /// Constants that some step reads as they are stay in memory as long as the plan; others need not, where their file
  /// has them.
  void hold_constants();
  /// Throws when the finished plan needs more than the memory limit.
  void check_limit() const;

 private:
  /// The choice, or the next best where a kernel that would be generated cannot be: a compiler may fail, which is no
  /// reason not to run the model.
  KernelChoice buildable(const Workload& workload, KernelChoice choice);
  SlotId add_constant(ValueId id, const Tensor& constant, Layout layout);
  /// A constant in another layout, converted now.
  Tensor converted(const Tensor& constant, const TensorSpec& target) const;
  SlotId add_conversion(ValueId id, Layout layout);
  /// The originals are let go of right after, since the packed copies are what runs: they are read again from the
  /// model's file when another plan wants them.
  std::vector<Tensor> pack_constants(const Step& step);
  /// Refuses while the weights are being packed, not after they took the memory.
  void count_constant(const Tensor& constant);

  const Graph& graph_;
  const GraphFacts& facts_;
  const PlanOptions& options_;
  PlanCache& cache_;
  Plan plan_;
  std::map<std::pair<ValueId, Layout>, SlotId> slots_;
  std::map<ValueId, Layout> home_;
  std::set<ValueId> dynamic_;
  std::set<const std::byte*> counted_;  // storages of constants so far
  int64_t counted_bytes_ = 0;
};

/// Refuses what the machine cannot hold while the node that asks for it is known.
int64_t checked_bytes(const TensorSpec& spec, const Node& node);

}  // namespace attune
