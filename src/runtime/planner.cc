#include "runtime/planner.h"

#include "base/memory.h"
#include "kernel/reorder.h"
#include "ops/node_traits.h"
#include "runtime/buffer_placement.h"
#include "runtime/contiguous_part.h"
#include "runtime/cut.h"
#include "runtime/kernel_choice.h"
#include "runtime/layout_policy.h"
#include "runtime/unfuse.h"

#include <algorithm>
#include <set>

namespace attune {
namespace {

/// Operators that only rename dims: their output is their first input's storage.
bool is_view(const Node& node) {
  constexpr std::string_view kViews[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  return node.domain.empty() && std::find(std::begin(kViews), std::end(kViews), node.op) != std::end(kViews);
}

constexpr const char* kLimitRemedy = "raise the limit, or use smaller shapes or a smaller model";

double megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

class Planner {
 public:
  Planner(std::shared_ptr<const Graph> graph, const GraphFacts& facts, const PlanOptions& options, PlanCache& cache)
      : graph_(*graph), facts_(facts), options_(options), cache_(cache), region_(region_layout(graph_, facts)) {
    plan_.graph = std::move(graph);
  }

  Plan run() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      plan_.inputs.push_back(add_given(graph_.inputs[i], static_cast<int>(i)));
    for (size_t i = 0; i < graph_.captures.size(); ++i)
      plan_.captures.push_back(add_given(graph_.captures[i].inner, static_cast<int>(graph_.inputs.size() + i)));
    for (const Node& node : graph_.nodes()) add_node(node);
    add_outputs();
    hold_constants();
    place_buffers(plan_);
    check_limit();
    return std::move(plan_);
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }

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

  SlotId add_given(ValueId id, int index) {
    Slot given;
    given.kind = Slot::Kind::input;
    given.name = graph_.value(id).name;
    given.index = index;
    if (const auto dims = concrete(type(id).shape)) {
      given.spec = {type(id).dtype, *dims, Layout::plain, false};
      given.bytes = storage_bytes(given.spec).value_or(0);
    } else {
      dynamic_[id] = true;
    }
    const SlotId created = new_slot(std::move(given));
    home_[id] = Layout::plain;
    slots_[{id, Layout::plain}] = created;
    return created;
  }

  /// The slot of a value in a layout, converted when it lies in another one.
  SlotId get(ValueId id, Layout layout) {
    const auto found = slots_.find({id, layout});
    if (found != slots_.end()) return found->second;
    const Tensor& constant = facts_.constants[static_cast<size_t>(id)];
    const SlotId created = !constant.empty() ? add_constant(id, constant, layout) : add_conversion(id, layout);
    slots_[{id, layout}] = created;
    return created;
  }

  SlotId add_constant(ValueId id, const Tensor& constant, Layout layout) {
    Slot created;
    created.kind = Slot::Kind::constant;
    created.name = graph_.value(id).name;
    created.spec = {constant.dtype(), constant.dims(), layout, true};
    created.bytes = storage_bytes(created.spec).value_or(0);
    created.constant = layout == Layout::plain ? constant : converted(constant.held(), created.spec);
    if (!created.constant.reloadable()) count_constant(created.constant);
    return new_slot(std::move(created));
  }

  /// A constant in another layout, converted now.
  Tensor converted(const Tensor& constant, const TensorSpec& target) {
    const Workload workload = reorder_workload({constant.dtype(), constant.dims(), Layout::plain, false}, target);
    const KernelChoice choice = choose_kernel(workload, options_.providers);
    const auto kernel = choice.provider->build(workload, choice.config);
    Tensor result = Tensor::allocate(DType::u8, {*storage_bytes(target)});
    Tensor workspace = Tensor::allocate(DType::u8, {kernel->workspace_bytes()});
    const std::byte* input = constant.bytes();
    std::byte* output = result.mutable_bytes();
    const auto state = kernel->make_state();
    kernel->run({{&input, 1}, {&output, 1}, {}, workspace.mutable_bytes(), state.get()}, 0, kernel->task_count());
    return result;
  }

  SlotId add_conversion(ValueId id, Layout layout) {
    const Layout from = home_.at(id);
    const SlotId source = slots_.at({id, from});
    Slot target;
    target.name = graph_.value(id).name;
    target.spec = slot(source).spec;
    target.spec.layout = layout;
    target.bytes = storage_bytes(target.spec).value_or(0);
    if (same_bytes(target.spec, from, layout)) {
      target.kind = Slot::Kind::view;
      target.source = source;
      return new_slot(std::move(target));
    }
    Step step;
    step.label = fmt::format("{} ({} to {})", target.name, layout_name(from), layout_name(layout));
    step.workload = reorder_workload(slot(source).spec, target.spec);
    step.inputs = {source};
    const SlotId created = new_slot(std::move(target));
    step.outputs = {created};
    const auto recorded = recorded_choice(step.label, step.workload);
    const KernelChoice choice = recorded ? *recorded : cache_.choice(step.workload, options_.providers);
    finish_step(std::move(step), choice);
    return created;
  }

  void add_node(const Node& node) {
    const auto known = [&](ValueId id) { return id == kNoValue || !facts_.constants[static_cast<size_t>(id)].empty(); };
    if (!has_subgraph(node) && std::all_of(node.outputs.begin(), node.outputs.end(), known)) return;  // folded
    std::optional<Workload> workload = make_workload(graph_, facts_, node);
    const bool reads_dynamic = std::any_of(node.inputs.begin(), node.inputs.end(),
                                           [&](ValueId id) { return id != kNoValue && dynamic_.count(id); });
    if (!workload || has_subgraph(node) || is_random(node) || reads_dynamic) {
      add_dynamic(node);
    } else if (is_view(node)) {
      add_view(node, *workload);
    } else if (add_parts(node, *workload) || join_in_place(node, *workload)) {
      // Its inputs or outputs lie inside of each other.
    } else {
      mark_constants(node, *workload);
      workload->mode = options_.mode_of(node);
      add_static(node, *workload);
    }
  }

  /// Contents known by inference count as constant too, not only initializers.
  void mark_constants(const Node& node, Workload& workload) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!workload.inputs[i]) continue;
      const Tensor& contents = facts_.constants[static_cast<size_t>(node.inputs[i])];
      workload.inputs[i]->constant = !contents.empty();
      workload.inputs[i]->zero = is_zero_point_of_zero(contents);
    }
  }

  void add_view(const Node& node, const Workload& workload) {
    const ValueId input = node.inputs[0], output = node.outputs[0];
    const bool keeps_dims = node.op == "Identity";
    const bool is_constant = !facts_.constants[static_cast<size_t>(input)].empty();
    const Layout layout = keeps_dims && !is_constant ? home_.at(input) : Layout::plain;
    Slot view;
    view.kind = Slot::Kind::view;
    view.name = graph_.value(output).name;
    view.source = get(input, layout);
    view.spec = workload.output(0);
    view.spec.layout = layout;
    view.bytes = storage_bytes(view.spec).value_or(0);
    home_[output] = layout;
    slots_[{output, layout}] = new_slot(std::move(view));
  }

  /// Split, and Slice along one axis, of a value whose parts each lie in one piece: the outputs are where the input is.
  bool add_parts(const Node& node, const Workload& workload) {
    const auto cut = find_cut(node, workload, facts_);
    const auto home = cut ? home_.find(node.inputs[0]) : home_.end();
    if (home == home_.end()) return false;
    TensorSpec whole = workload.input(0);
    whole.layout = home->second;
    std::vector<int64_t> offsets;
    int64_t begin = cut->begin;
    for (const auto& output : workload.outputs) {
      if (!output) return false;
      const int64_t length = output->dims[cut->axis];
      const auto offset = part_offset(whole, cut->axis, begin, length);
      if (!offset) return false;
      offsets.push_back(*offset);
      begin += length;
    }
    const SlotId source = get(node.inputs[0], whole.layout);
    for (size_t i = 0; i < offsets.size(); ++i) {
      Slot view;
      view.kind = Slot::Kind::view;
      view.name = graph_.value(node.outputs[i]).name;
      view.source = source;
      view.source_offset = offsets[i];
      view.spec = workload.output(i);
      view.spec.layout = whole.layout;
      view.bytes = storage_bytes(view.spec).value_or(0);
      home_[node.outputs[i]] = whole.layout;
      slots_[{node.outputs[i], whole.layout}] = new_slot(std::move(view));
    }
    return true;
  }

  /// Concat whose inputs can be written where they will lie in the result: nothing is left to do for it.
  bool join_in_place(const Node& node, const Workload& workload) {
    if (!node.domain.empty() || node.op != "Concat") return false;
    TensorSpec whole = workload.output(0);
    const int64_t rank = static_cast<int64_t>(whole.dims.size());
    const int64_t given = attribute_or<int64_t>(node.attributes, "axis", 0);
    const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
    std::vector<std::pair<SlotId, int64_t>> places;
    int64_t begin = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto home = home_.find(node.inputs[i]);
      if (home == home_.end() || (i > 0 && home->second != whole.layout)) return false;
      whole.layout = home->second;
      const SlotId id = storage(slots_.at({node.inputs[i], whole.layout}));
      const int64_t length = workload.input(i).dims[axis];
      const auto offset = part_offset(whole, axis, begin, length);
      const bool mine =
          slot(id).kind == Slot::Kind::arena &&
          slot(id).bytes == slot(slots_.at({node.inputs[i], whole.layout})).bytes &&
          std::none_of(places.begin(), places.end(), [&](const auto& place) { return place.first == id; });
      if (!offset || !mine) return false;
      places.emplace_back(id, *offset);
      begin += length;
    }
    Slot output;
    output.name = graph_.value(node.outputs[0]).name;
    output.spec = whole;
    output.bytes = checked_bytes(whole, node);
    home_[node.outputs[0]] = whole.layout;
    const SlotId created = new_slot(std::move(output));
    slots_[{node.outputs[0], whole.layout}] = created;
    for (const auto& [id, offset] : places) {
      slot(id).kind = Slot::Kind::view;
      slot(id).source = created;
      slot(id).source_offset = offset;
    }
    return true;
  }

  Layout current_layout(const Node& node) const {
    for (const ValueId id : node.inputs) {
      const auto home = id == kNoValue ? home_.end() : home_.find(id);
      if (home != home_.end() && home->second != Layout::plain) return home->second;
    }
    return Layout::plain;
  }

  void add_static(const Node& node, const Workload& plain) {
    std::optional<Workload> chosen_workload;
    std::optional<KernelChoice> chosen;
    std::vector<Alternative> alternatives;
    if (const auto found = options_.recorded.find(node.name); found != options_.recorded.end()) {
      Workload workload = with_layout(plain, found->second.layout);
      chosen = recorded_choice(node.name, workload);
      if (chosen) {
        chosen_workload = std::move(workload);
        alternatives = chosen->alternatives;
      }
    }
    for (const Layout layout : layout_candidates(plain, region_, current_layout(node))) {
      if (chosen) break;
      Workload workload = with_layout(plain, layout);
      KernelChoice choice = cache_.choice(workload, options_.providers);
      alternatives.insert(alternatives.end(), choice.alternatives.begin(), choice.alternatives.end());
      if (choice.provider == nullptr) continue;
      chosen_workload = std::move(workload);
      chosen = std::move(choice);
      break;
    }
    if (!chosen) throw UnsupportedError("no provider has a kernel for {} (node '{}')", plain.key(), node.name);
    chosen->alternatives = std::move(alternatives);

    Step step;
    step.node = &node;
    step.label = node.name;
    step.workload = *chosen_workload;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      step.inputs.push_back(node.inputs[i] == kNoValue ? kNoSlot
                                                       : get(node.inputs[i], chosen_workload->input(i).layout));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) {
        step.outputs.push_back(kNoSlot);
        continue;
      }
      Slot output;
      output.name = graph_.value(node.outputs[i]).name;
      output.spec = chosen_workload->output(i);
      output.bytes = checked_bytes(output.spec, node);
      home_[node.outputs[i]] = output.spec.layout;
      step.outputs.push_back(new_slot(std::move(output)));
      slots_[{node.outputs[i], chosen_workload->output(i).layout}] = step.outputs.back();
    }
    finish_step(std::move(step), std::move(*chosen));
  }

  /// What an earlier plan chose for this step, when its workload is the same one.
  std::optional<KernelChoice> recorded_choice(const std::string& label, const Workload& workload) const {
    const auto found = options_.recorded.find(label);
    if (found == options_.recorded.end() || found->second.workload_key != workload.key()) return std::nullopt;
    const RecordedStep& step = found->second;
    for (const Provider* provider : options_.providers)
      if (provider->name() == step.provider) return KernelChoice{provider, step.config, step.reason, step.alternatives};
    return std::nullopt;
  }

  /// Refuses what the machine cannot hold while the node that asks for it is known.
  static int64_t checked_bytes(const TensorSpec& spec, const Node& node) {
    const std::string what =
        fmt::format("op '{}' (node '{}'): an output of {}", node.op, node.name, to_text(std::optional(spec)));
    const auto bytes = storage_bytes(spec);
    if (!bytes) throw UserError("{} overflows the address space", what);
    check_memory(*bytes, [&] { return what; });
    return *bytes;
  }

  void finish_step(Step step, KernelChoice choice) {
    step.provider = std::string(choice.provider->name());
    step.config = choice.config;
    step.reason = choice.reason;
    step.alternatives = std::move(choice.alternatives);
    step.kernel = cache_.kernel(step.workload, *choice.provider, choice.config);
    step.tasks = step.kernel->task_count();
    const auto recorded = options_.recorded.find(step.label);
    const bool packed = recorded != options_.recorded.end() && recorded->second.workload_key == step.workload.key();
    step.prepared = packed ? recorded->second.prepared : pack_constants(step);
    for (const Tensor& tensor : step.prepared) count_constant(tensor);
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.kernel->takes_over(static_cast<int>(i))) step.inputs[i] = kNoSlot;
    plan_.steps.push_back(std::move(step));
  }

  /// The originals are let go of right after, since the packed copies are what runs: they are read again from the
  /// model's file when another plan wants them.
  std::vector<Tensor> pack_constants(const Step& step) {
    std::vector<Tensor> held(step.inputs.size());
    std::vector<const Tensor*> constants(step.inputs.size(), nullptr);
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const SlotId id = step.inputs[i] == kNoSlot ? kNoSlot : storage(step.inputs[i]);
      if (id == kNoSlot || slot(id).kind != Slot::Kind::constant) continue;
      held[i] = step.kernel->takes_over(static_cast<int>(i)) ? slot(id).constant.held() : slot(id).constant;
      constants[i] = &held[i];
    }
    std::vector<Tensor> prepared = step.kernel->prepare(constants);
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (constants[i] != nullptr && step.kernel->takes_over(static_cast<int>(i)))
        slot(storage(step.inputs[i])).constant.release_pages();
    return prepared;
  }

  /// Constants that some step reads as they are stay in memory as long as the plan; others need not, where their file
  /// has them.
  void hold_constants() {
    std::vector<bool> read(plan_.slots.size(), false);
    const auto mark = [&](SlotId id) {
      if (id != kNoSlot) read[static_cast<size_t>(storage(id))] = true;
    };
    for (const Step& step : plan_.steps) {
      for (const SlotId id : step.inputs) mark(id);
      for (const auto& [value, id] : step.captures) mark(id);
    }
    for (const SlotId id : plan_.outputs) mark(id);
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      Slot& constant = plan_.slots[i];
      if (constant.kind != Slot::Kind::constant) continue;
      if (read[i])
        constant.constant = constant.constant.held();
      else if (constant.constant.reloadable())
        constant.constant = Tensor();
    }
  }

  void add_dynamic(const Node& node) {
    Step step;
    step.node = &node;
    step.label = node.name;
    step.provider = "reference";
    step.reason = has_subgraph(node) ? "control flow" : "its shapes are known only at run time";
    for (const ValueId id : node.inputs) step.inputs.push_back(id == kNoValue ? kNoSlot : get(id, Layout::plain));
    // A subgraph reads outer values by slot too; the session looks them up by value.
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for (const Capture& capture : (*body)->captures)
          step.captures[capture.outer] = get(capture.outer, Layout::plain);
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) {
        step.outputs.push_back(kNoSlot);
        continue;
      }
      Slot output;
      output.kind = Slot::Kind::dynamic;
      output.name = graph_.value(id).name;
      const auto dims = concrete(type(id).shape);
      output.spec = {type(id).dtype, dims.value_or(Dims{}), Layout::plain, false};
      if (!dims || type(id).dtype == DType::undefined) dynamic_[id] = true;
      home_[id] = Layout::plain;
      step.outputs.push_back(new_slot(std::move(output)));
      slots_[{id, Layout::plain}] = step.outputs.back();
    }
    plan_.steps.push_back(std::move(step));
  }

  /// A step may write straight into the caller's tensor when nothing else does.
  void add_outputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const SlotId id = get(graph_.outputs[i], Layout::plain);
      plan_.outputs.push_back(id);
      Slot& written = slot(storage(id));
      if (written.kind != Slot::Kind::arena || written.bytes != slot(id).bytes) continue;  // the session copies it
      written.kind = Slot::Kind::output;
      written.index = static_cast<int>(i);
    }
  }

  void check_limit() const {
    const int64_t limit = options_.memory_limit_bytes, weights = plan_.constant_bytes();
    const int64_t needed = plan_.arena_bytes + weights;
    if (limit == 0 || needed <= limit) return;
    throw UserError(
        "the model needs {:.1f} MB for these shapes ({:.1f} for weights as they are and packed, {:.1f} for activations "
        "and workspaces), more than the limit of {:.1f} MB; {}",
        megabytes(needed), megabytes(weights), megabytes(plan_.arena_bytes), megabytes(limit), kLimitRemedy);
  }

  /// Refuses while the weights are being packed, not after they took the memory.
  void count_constant(const Tensor& constant) {
    if (options_.memory_limit_bytes == 0 || !counted_.insert(constant.bytes()).second) return;
    counted_bytes_ += constant.size_bytes();
    if (counted_bytes_ > options_.memory_limit_bytes)
      throw UserError(
          "the model needs more than {:.1f} MB for its weights as they are and packed, and the limit is "
          "{:.1f} MB; {}",
          megabytes(counted_bytes_), megabytes(options_.memory_limit_bytes), kLimitRemedy);
  }

  const Graph& graph_;
  const GraphFacts& facts_;
  const PlanOptions& options_;
  PlanCache& cache_;
  Layout region_;
  Plan plan_;
  std::map<std::pair<ValueId, Layout>, SlotId> slots_;
  std::map<ValueId, Layout> home_;      // the layout that a value's producer wrote
  std::map<ValueId, bool> dynamic_;     // values whose shape is not known here
  std::set<const std::byte*> counted_;  // storages of constants so far
  int64_t counted_bytes_ = 0;
};

}  // namespace

NumericMode PlanOptions::mode_of(const Node& node) const {
  // What rewriting fused goes by the name of its product.
  constexpr std::string_view kFused = "Fused";
  const std::string_view op = node.domain == "attune" && node.op.starts_with(kFused)
                                  ? std::string_view(node.op).substr(kFused.size())
                                  : std::string_view(node.op);
  return mode_operators.empty() || mode_operators.count(op) > 0 ? mode : NumericMode::high_precision;
}

const KernelChoice& PlanCache::choice(const Workload& workload, std::span<const Provider* const> providers) {
  const std::string key = workload.key();
  const std::lock_guard lock(mutex_);
  const auto found = choices_.find(key);
  if (found != choices_.end()) return found->second;
  return choices_.emplace(key, choose_kernel(workload, providers)).first->second;
}

std::shared_ptr<const Kernel> PlanCache::kernel(const Workload& workload, const Provider& provider,
                                                const Config& config) {
  const std::string key = fmt::format("{} {} {}", provider.name(), to_text(config), workload.key());
  const std::lock_guard lock(mutex_);
  auto& kernel = kernels_[key];
  if (!kernel) kernel = provider.build(workload, config);
  return kernel;
}

Plan make_plan(std::shared_ptr<const Graph> graph, const GraphFacts& facts, const PlanOptions& options,
               PlanCache& cache) {
  if (auto unfused = unfuse(*graph, facts, options, cache)) {
    // Types of the new values follow from those of the old ones.
    GraphFacts extended = facts;
    extended.types.resize(unfused->values().size());
    extended.constants.resize(unfused->values().size());
    extended.contents.resize(unfused->values().size());
    for (size_t i = facts.types.size(); i < extended.types.size(); ++i)
      extended.types[i] = {unfused->values()[i].dtype, unfused->values()[i].shape};
    return Planner(std::move(unfused), extended, options, cache).run();
  }
  return Planner(std::move(graph), facts, options, cache).run();
}

void Plan::add_constants(std::map<const std::byte*, int64_t>& storages) const {
  for (const Slot& slot : slots)
    if (slot.kind == Slot::Kind::constant) storages[slot.constant.bytes()] = slot.constant.size_bytes();
  for (const Step& step : steps)
    for (const Tensor& tensor : step.prepared) storages[tensor.bytes()] = tensor.size_bytes();
}

int64_t Plan::constant_bytes() const {
  std::map<const std::byte*, int64_t> storages;
  add_constants(storages);
  int64_t total = 0;
  for (const auto& [storage, bytes] : storages) total += bytes;
  return total;
}

}  // namespace attune
