#include "runtime/plan_builder.h"

#include "base/large_pages.h"
#include "base/memory.h"
#include "kernel/reorder.h"
#include "runtime/layout_policy.h"

#include <algorithm>
#include <iterator>

namespace attune {
namespace {

constexpr const char* kLimitRemedy = "raise the limit, or use smaller shapes or a smaller model";

double megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

}  // namespace

PlanBuilder::PlanBuilder(std::shared_ptr<const Graph> graph, const GraphFacts& facts, const PlanOptions& options,
                         PlanCache& cache)
    : graph_(*graph), facts_(facts), options_(options), cache_(cache) {
  plan_.graph = std::move(graph);
}

SlotId PlanBuilder::add_given(ValueId id, int index) {
  Slot given;
  given.kind = Slot::Kind::input;
  given.name = graph_.value(id).name;
  given.index = index;
  if (const auto dims = concrete(type(id).shape)) {
    given.spec = {type(id).dtype, *dims, Layout::plain, false};
    given.bytes = storage_bytes(given.spec).value_or(0);
  } else {
    dynamic_.insert(id);
  }
  const SlotId created = new_slot(std::move(given));
  home_[id] = Layout::plain;
  slots_[{id, Layout::plain}] = created;
  return created;
}

SlotId PlanBuilder::get(ValueId id, Layout layout) {
  const auto found = slots_.find({id, layout});
  if (found != slots_.end()) return found->second;
  const Tensor& constant = facts_.constants[static_cast<size_t>(id)];
  const SlotId created = !constant.empty() ? add_constant(id, constant, layout) : add_conversion(id, layout);
  slots_[{id, layout}] = created;
  return created;
}

SlotId PlanBuilder::add_constant(ValueId id, const Tensor& constant, Layout layout) {
  Slot created;
  created.kind = Slot::Kind::constant;
  created.name = graph_.value(id).name;
  created.spec = {constant.dtype(), constant.dims(), layout, true};
  created.bytes = storage_bytes(created.spec).value_or(0);
  created.constant = layout == Layout::plain ? constant : converted(constant.held(), created.spec);
  if (!created.constant.reloadable()) count_constant(created.constant);
  return new_slot(std::move(created));
}

Tensor PlanBuilder::converted(const Tensor& constant, const TensorSpec& target) const {
  const Workload workload = reorder_workload({constant.dtype(), constant.dims(), Layout::plain, false}, target);
  const KernelChoice choice = choose_kernel(workload, options_.providers);
  const auto kernel = choice.provider->build(workload, choice.config);
  Tensor result = Tensor::lasting(DType::u8, {*storage_bytes(target)});
  Tensor workspace = Tensor::allocate(DType::u8, {kernel->workspace_bytes()});
  const std::byte* input = constant.bytes();
  std::byte* output = result.mutable_bytes();
  const auto state = kernel->make_state();
  kernel->run({{&input, 1}, {&output, 1}, {}, workspace.mutable_bytes(), state.get()}, 0, kernel->task_count());
  return result;
}

SlotId PlanBuilder::add_conversion(ValueId id, Layout layout) {
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
  const KernelChoice choice = recorded ? *recorded : cache_.choice(step.workload, options_);
  finish_step(std::move(step), choice);
  return created;
}

std::optional<KernelChoice> PlanBuilder::recorded_choice(const std::string& label, const Workload& workload) const {
  const auto found = options_.recorded.find(label);
  if (found == options_.recorded.end() || found->second.workload_key != workload.key()) return std::nullopt;
  const RecordedStep& step = found->second;
  for (const Provider* provider : options_.providers)
    if (provider->name() == step.provider) return KernelChoice{provider, step.config, step.reason, step.alternatives};
  return std::nullopt;
}

KernelChoice PlanBuilder::buildable(const Workload& workload, KernelChoice choice) {
  if (choice.provider->name() != "generated") return choice;
  try {
    static_cast<void>(cache_.kernel(workload, *choice.provider, choice.config));
    return choice;
  } catch (const UserError& error) {
    std::vector<const Provider*> others;
    std::ranges::copy_if(options_.providers, std::back_inserter(others),
                         [&](const Provider* one) { return one != choice.provider; });
    KernelChoice other = choose_kernel(workload, others, options_.input_shapes);
    if (other.provider == nullptr) throw;
    other.reason += fmt::format("; the generated kernel cannot be built: {}", error.what());
    return other;
  }
}

void PlanBuilder::finish_step(Step step, KernelChoice choice) {
  if (options_.recorded.count(step.label) == 0) choice = buildable(step.workload, std::move(choice));
  step.provider = std::string(choice.provider->name());
  step.config = choice.config;
  step.reason = choice.reason;
  step.alternatives = std::move(choice.alternatives);
  const auto recorded = options_.recorded.find(step.label);
  const bool packed = recorded != options_.recorded.end() && recorded->second.workload_key == step.workload.key();
  std::span<const std::byte> artifact;
  if (packed && !recorded->second.artifact.empty())
    artifact = {recorded->second.artifact.bytes(), static_cast<size_t>(recorded->second.artifact.size_bytes())};
  step.kernel = cache_.kernel(step.workload, *choice.provider, choice.config, artifact);
  step.tasks = step.kernel->task_count();
  step.prepared = packed ? recorded->second.prepared : pack_constants(step);
  for (const Tensor& tensor : step.prepared) count_constant(tensor);
  for (size_t i = 0; i < step.inputs.size(); ++i)
    if (step.kernel->takes_over(static_cast<int>(i))) step.inputs[i] = kNoSlot;
  plan_.steps.push_back(std::move(step));
}

std::vector<Tensor> PlanBuilder::pack_constants(const Step& step) {
  std::vector<Tensor> held(step.inputs.size());
  std::vector<const Tensor*> constants(step.inputs.size(), nullptr);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const SlotId id = step.inputs[i] == kNoSlot ? kNoSlot : storage(step.inputs[i]);
    if (id == kNoSlot || slot(id).kind != Slot::Kind::constant) continue;
    held[i] = slot(id).constant.held();  // another session of the same constants may let go of them meanwhile
    constants[i] = &held[i];
  }
  std::vector<Tensor> prepared = step.kernel->prepare(constants);
  for (size_t i = 0; i < step.inputs.size(); ++i)
    if (constants[i] != nullptr && step.kernel->takes_over(static_cast<int>(i)))
      slot(storage(step.inputs[i])).constant.release_pages();
  // Packing may take as much again; what was packed lies on pages of its own, so nothing would fill the holes.
  if (std::ranges::any_of(prepared, [](const Tensor& one) { return one.size_bytes() >= int64_t{kLargePage}; }))
    return_freed_memory();
  return prepared;
}

void PlanBuilder::hold_constants() {
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

void PlanBuilder::check_limit() const {
  const int64_t limit = options_.memory_limit_bytes, weights = plan_.constant_bytes();
  const int64_t needed = plan_.arena_bytes + weights;
  if (limit == 0 || needed <= limit) return;
  throw UserError(
      "the model needs {:.1f} MB for these shapes ({:.1f} for weights as they are and packed, {:.1f} for activations "
      "and workspaces), more than the limit of {:.1f} MB; {}",
      megabytes(needed), megabytes(weights), megabytes(plan_.arena_bytes), megabytes(limit), kLimitRemedy);
}

void PlanBuilder::count_constant(const Tensor& constant) {
  if (options_.memory_limit_bytes == 0 || !counted_.insert(constant.bytes()).second) return;
  counted_bytes_ += constant.size_bytes();
  if (counted_bytes_ > options_.memory_limit_bytes)
    throw UserError(
        "the model needs more than {:.1f} MB for its weights as they are and packed, and the limit is "
        "{:.1f} MB; {}",
        megabytes(counted_bytes_), megabytes(options_.memory_limit_bytes), kLimitRemedy);
}

int64_t checked_bytes(const TensorSpec& spec, const Node& node) {
  const std::string what =
      fmt::format("op '{}' (node '{}'): an output of {}", node.op, node.name, to_text(std::optional(spec)));
  const auto bytes = storage_bytes(spec);
  if (!bytes) throw UserError("{} overflows the address space", what);
  check_memory(*bytes, [&] { return what; });
  return *bytes;
}

}  // namespace attune
