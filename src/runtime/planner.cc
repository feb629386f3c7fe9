#include "runtime/planner.h"

#include "ops/node_traits.h"
#include "runtime/buffer_placement.h"
#include "runtime/kernel_choice.h"
#include "runtime/layout_policy.h"
#include "runtime/plan_builder.h"
#include "runtime/plan_views.h"
#include "runtime/unfuse.h"

#include <algorithm>

namespace attune {
namespace {

/// Walks the nodes and decides how each is done.
class Planner {
 public:
  Planner(std::shared_ptr<const Graph> graph, const GraphFacts& facts, const PlanOptions& options, PlanCache& cache)
      : plan_(std::move(graph), facts, options, cache), region_(region_layouts(plan_.graph(), facts, options.layout)) {}

  Plan run() {
    const Graph& graph = plan_.graph();
    Plan& plan = plan_.plan();
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      plan.inputs.push_back(plan_.add_given(graph.inputs[i], static_cast<int>(i)));
    for (size_t i = 0; i < graph.captures.size(); ++i)
      plan.captures.push_back(plan_.add_given(graph.captures[i].inner, static_cast<int>(graph.inputs.size() + i)));
    for (const Node& node : graph.nodes()) add_node(node);
    add_outputs();
    plan_.hold_constants();
    place_buffers(plan);
    plan_.check_limit();
    return std::move(plan);
  }

 private:
  void add_node(const Node& node) {
    const auto known = [&](ValueId id) { return id == kNoValue || plan_.is_constant(id); };
    if (!has_subgraph(node) && std::all_of(node.outputs.begin(), node.outputs.end(), known)) return;  // folded
    std::optional<Workload> workload = make_workload(plan_.graph(), plan_.facts(), node);
    const bool reads_dynamic = std::any_of(node.inputs.begin(), node.inputs.end(),
                                           [&](ValueId id) { return id != kNoValue && plan_.is_dynamic(id); });
    if (!workload || has_subgraph(node) || is_random(node) || reads_dynamic) {
      add_dynamic(node);
    } else if (renames_dims(node) || keeps_elements(node, *workload)) {
      add_view(plan_, node, *workload);
    } else if (place_renamed(node, *workload) || add_parts(plan_, node, *workload) ||
               add_taken(plan_, node, *workload) || join_in_place(plan_, node, *workload)) {
      // Its inputs and outputs are the same, or lie inside of each other.
    } else {
      mark_constants(node, *workload);
      workload->mode = plan_.options().mode_of(node);
      add_static(node, *workload);
    }
  }

  /// Places the output of a Transpose that is its input, in another layout; false for any other node.
  bool place_renamed(const Node& node, const Workload& workload) {
    return node.op == "Transpose" && add_transposed_view(plan_, node, workload, layout_for_readers(node.outputs[0]));
  }

  /// Contents known by inference count as constant too, not only initializers.
  void mark_constants(const Node& node, Workload& workload) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!workload.inputs[i]) continue;
      const Tensor& contents = plan_.facts().constants[static_cast<size_t>(node.inputs[i])];
      workload.inputs[i]->constant = !contents.empty();
      workload.inputs[i]->zero = is_zero_point_of_zero(contents);
    }
  }

  Layout current_layout(const Node& node) const {
    for (const ValueId id : node.inputs) {
      const auto home = id == kNoValue ? std::nullopt : plan_.home(id);
      if (home && *home != Layout::plain) return *home;
    }
    return Layout::plain;
  }

  /// What was chosen for this convolution, or for all.
  RegionLayouts region_for(const Node& node) const {
    const auto found = plan_.options().node_layouts.find(node.name);
    return found == plan_.options().node_layouts.end() ? region_ : RegionLayouts{found->second, found->second};
  }

  /// The layout in which a value will be read, by a convolution or beside an operand that lies so; plain otherwise.
  Layout layout_for_readers(ValueId id) const {
    for (const Node& reader : plan_.graph().nodes()) {
      const auto found = std::ranges::find(reader.inputs, id);
      const auto workload =
          found == reader.inputs.end() ? std::nullopt : make_workload(plan_.graph(), plan_.facts(), reader);
      if (!workload) continue;
      const Layout layout = layout_candidates(*workload, region_for(reader), current_layout(reader)).front();
      const Workload asked = with_layout(*workload, layout);
      const auto& operand = asked.inputs[static_cast<size_t>(found - reader.inputs.begin())];
      if (operand && operand->layout != Layout::plain) return operand->layout;
    }
    return Layout::plain;
  }

  /// The forms of a workload to try, the best first.
  std::vector<Workload> candidates(const Node& node, const Workload& plain) const {
    std::vector<Workload> forms;
    const Layout current = current_layout(node);
    // A cast may convert the layout on its way.
    if (const Layout wanted = node.op == "Cast" && node.domain.empty() && current == Layout::plain
                                  ? layout_for_readers(node.outputs[0])
                                  : Layout::plain;
        wanted != Layout::plain) {
      forms.push_back(plain);
      forms.back().outputs[0]->layout = wanted;
    }
    for (const Layout layout : layout_candidates(plain, region_for(node), current))
      forms.push_back(with_layout(plain, layout));
    return forms;
  }

  void add_static(const Node& node, const Workload& plain) {
    std::optional<Workload> chosen_workload;
    std::optional<KernelChoice> chosen;
    std::vector<Alternative> alternatives;
    if (const auto found = plan_.options().recorded.find(node.name); found != plan_.options().recorded.end()) {
      Workload workload = with_layout(plain, found->second.layout);
      chosen = plan_.recorded_choice(node.name, workload);
      if (chosen) {
        chosen_workload = std::move(workload);
        alternatives = chosen->alternatives;
      }
    }
    for (Workload& workload : candidates(node, plain)) {
      if (chosen) break;
      KernelChoice choice = plan_.cache().choice(workload, plan_.options());
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
                                                       : plan_.get(node.inputs[i], chosen_workload->input(i).layout));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) {
        step.outputs.push_back(kNoSlot);
        continue;
      }
      Slot output;
      output.name = plan_.graph().value(node.outputs[i]).name;
      output.spec = chosen_workload->output(i);
      output.bytes = checked_bytes(output.spec, node);
      step.outputs.push_back(plan_.new_slot(std::move(output)));
      plan_.place(node.outputs[i], chosen_workload->output(i).layout, step.outputs.back());
    }
    plan_.finish_step(std::move(step), std::move(*chosen));
  }

  void add_dynamic(const Node& node) {
    Step step;
    step.node = &node;
    step.label = node.name;
    step.provider = "reference";
    step.reason = has_subgraph(node) ? "control flow" : "its shapes are known only at run time";
    for (const ValueId id : node.inputs) step.inputs.push_back(id == kNoValue ? kNoSlot : plan_.get(id, Layout::plain));
    // A subgraph reads outer values by slot too; the session looks them up by value.
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for (const Capture& capture : (*body)->captures)
          step.captures[capture.outer] = plan_.get(capture.outer, Layout::plain);
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) {
        step.outputs.push_back(kNoSlot);
        continue;
      }
      Slot output;
      output.kind = Slot::Kind::dynamic;
      output.name = plan_.graph().value(id).name;
      const ValueType& type = plan_.type(id);
      const auto dims = concrete(type.shape);
      output.spec = {type.dtype, dims.value_or(Dims{}), Layout::plain, false};
      if (!dims || type.dtype == DType::undefined) plan_.mark_dynamic(id);
      step.outputs.push_back(plan_.new_slot(std::move(output)));
      plan_.place(id, Layout::plain, step.outputs.back());
    }
    plan_.plan().steps.push_back(std::move(step));
  }

  /// A step may write straight into the caller's tensor when nothing else does.
  void add_outputs() {
    for (size_t i = 0; i < plan_.graph().outputs.size(); ++i) {
      const SlotId id = plan_.get(plan_.graph().outputs[i], Layout::plain);
      plan_.plan().outputs.push_back(id);
      Slot& written = plan_.slot(plan_.storage(id));
      if (written.kind != Slot::Kind::arena || written.bytes != plan_.slot(id).bytes)
        continue;  // the session copies it
      written.kind = Slot::Kind::output;
      written.index = static_cast<int>(i);
    }
  }

  PlanBuilder plan_;
  RegionLayouts region_;
};

}  // namespace

NumericMode PlanOptions::mode_of(const Node& node) const {
  // What rewriting fused goes by the name of its product.
  std::string_view op = node.op;
  if (node.domain == "attune")
    for (const std::string_view made : {"Fused", "Shuffled"})
      if (op.starts_with(made)) op.remove_prefix(made.size());
  return mode_operators.empty() || mode_operators.count(op) > 0 ? mode : NumericMode::high_precision;
}

KernelChoice PlanCache::choose(const Workload& workload, const PlanOptions& options) {
  KernelChoice choice = choose_kernel(workload, options.providers, options.input_shapes);
  const auto advice = options.advisor ? options.advisor->advise(workload) : std::nullopt;
  if (!advice) return choice;
  for (const Provider* provider : options.providers) {
    if (provider->name() != advice->provider) continue;
    try {
      static_cast<void>(kernel(workload, *provider, advice->config));
    } catch (const UserError&) {
      break;  // the provider no longer has this config: the rule stands
    }
    choice.provider = provider;
    choice.config = advice->config;
    choice.reason = advice->reason;
    break;
  }
  return choice;
}

const KernelChoice& PlanCache::choice(const Workload& workload, const PlanOptions& options) {
  const std::string key = workload.key();
  {
    const std::lock_guard lock(mutex_);
    const auto found = choices_.find(key);
    if (found != choices_.end()) return found->second;
  }
  KernelChoice choice = choose(workload, options);
  const std::lock_guard lock(mutex_);
  return choices_.emplace(key, std::move(choice)).first->second;  // the first one, should two threads have chosen
}

std::shared_ptr<const Kernel> PlanCache::kernel(const Workload& workload, const Provider& provider,
                                                const Config& config, std::span<const std::byte> artifact) {
  const std::string key = fmt::format("{} {} {}", provider.name(), to_text(config), workload.key());
  const std::lock_guard lock(mutex_);
  auto& kernel = kernels_[key];
  if (!kernel)
    kernel =
        artifact.empty() ? provider.build(workload, config) : provider.build_from_artifact(workload, config, artifact);
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
    for (size_t i = facts.types.size(); i < extended.types.size(); ++i) {
      extended.types[i] = {unfused->values()[i].dtype, unfused->values()[i].shape};
      extended.constants[i] = unfused->values()[i].constant;
    }
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
