#include "runtime/graph_session.h"

#include "ops/run_node.h"
#include "rewrite/inline_branches.h"
#include "runtime/kernel_choice.h"

#include <algorithm>
#include <chrono>

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

// Integer inputs up to this size may be shapes, axes or switches; larger ones are data.
constexpr int64_t kMostContentElements = 16;
// A loop counter must not give rise to a plan for each of its values.
constexpr int kMostContentPlans = 16;
// Nor must what a detector finds in an image.
constexpr size_t kMostDataPlans = 16;
constexpr const char* kOpenKey = "open";

bool may_be_shape(const Tensor& tensor) {
  const bool integer = tensor.dtype() == DType::i64 || tensor.dtype() == DType::i32 || tensor.dtype() == DType::boolean;
  return integer && tensor.rank() <= 1 && tensor.count() <= kMostContentElements;
}

std::string types_key(std::span<const Tensor> given) {
  std::string key;
  for (const Tensor& tensor : given) key += fmt::format("{}[{}];", dtype_name(tensor.dtype()), to_text(tensor.dims()));
  return key;
}

std::string contents_key(std::span<const Tensor> given) {
  std::string key = "=";
  for (const Tensor& tensor : given) {
    if (may_be_shape(tensor))
      key.append(reinterpret_cast<const char*>(tensor.bytes()), static_cast<size_t>(tensor.size_bytes()));
    key += ';';
  }
  return key;
}

/// Equal nodes share a kernel, so only the step knows which node fails.
void run_named(const Step& step, size_t index, RunState& state) {
  try {
    state.run_kernel(step, index);
  } catch (const UnsupportedError& error) {
    throw UnsupportedError("node '{}': {}", step.label, error.what());
  } catch (const UserError& error) {
    throw UserError("node '{}': {}", step.label, error.what());
  }
}

int64_t open_steps(const Plan& plan) {
  return std::count_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) { return !step.kernel; });
}

std::shared_ptr<const PlanOptions> suited_to(const Graph& graph, std::shared_ptr<const PlanOptions> options) {
  if (input_shapes(graph) == options->input_shapes || options->input_shapes == InputShapes::open) return options;
  auto suited = std::make_shared<PlanOptions>(*options);
  suited->input_shapes = InputShapes::open;
  return suited;
}

}  // namespace

GraphSession::GraphSession(std::shared_ptr<const Graph> graph, std::shared_ptr<const PlanOptions> options,
                           ShapesBy shapes)
    : graph_(std::move(graph)), options_(suited_to(*graph_, std::move(options))), shapes_(shapes) {}

std::shared_ptr<const Graph> GraphSession::with_known_branches(GraphFacts& facts, const InferOptions& infer) {
  std::shared_ptr<const Graph> current = graph_;
  std::string taken;  // which branches: what tells two graphs apart
  const auto condition = [&](const Node& node) -> std::optional<bool> {
    const Tensor& known = facts.constants[static_cast<size_t>(node.inputs[0])];
    if (known.empty() || known.count() != 1 || known.dtype() != DType::boolean) return std::nullopt;
    const bool value = known.data<bool>()[0];
    taken += node.name + (value ? "+" : "-") + "\n";
    return value;
  };
  for (;;) {
    auto next = std::make_shared<Graph>(*current);
    if (rewrite::inline_branches(*next, condition) == 0) return current;
    auto& kept = inlined_[taken];
    if (!kept) kept = std::move(next);
    current = kept;
    facts = infer_graph(*current, infer);
  }
}

GraphSession::Division& GraphSession::division_for(const Graph& graph, DividedGraph parts) {
  auto& division = divisions_[{&graph, parts.in_tail}];
  if (!division) {
    auto tail = std::make_unique<GraphSession>(parts.tail, options_, ShapesBy::data);
    division = std::make_unique<Division>(Division{std::move(parts), std::move(tail)});
  }
  return *division;
}

GraphSession::Made GraphSession::make(std::span<const Tensor> given, Known known) {
  InferOptions infer;
  for (size_t i = 0; i < given.size(); ++i) {
    const ValueId id =
        i < graph_->inputs.size() ? graph_->inputs[i] : graph_->captures[i - graph_->inputs.size()].inner;
    infer.types[id] = {given[i].dtype(),
                       known == Known::dtypes ? std::nullopt : std::optional(to_shape(given[i].dims()))};
    if (known == Known::small_contents && may_be_shape(given[i])) infer.contents[id] = given[i];
  }
  GraphFacts facts = infer_graph(*graph_, infer);
  Made made;
  std::shared_ptr<const Graph> planned = with_known_branches(facts, infer);
  if (known != Known::dtypes) {
    if (auto parts = divide_at_open_shapes(*planned, facts)) {
      made.open_steps = std::count(parts->in_tail.begin(), parts->in_tail.end(), true);
      made.division = &division_for(*planned, std::move(*parts));
      planned = made.division->parts.head;
    }
  }
  made.plan = std::make_shared<const Plan>(make_plan(planned, facts, *options_, cache_));
  made.open_steps += open_steps(*made.plan);
  return made;
}

GraphSession::Entry& GraphSession::entry_for(std::span<const Tensor> given) {
  const std::lock_guard lock(mutex_);
  std::string key = types_key(given);
  const bool with_contents = contents_matter_ && content_plans_ < kMostContentPlans;
  if (contents_matter_) {
    const auto exact = entries_.find(key + contents_key(given));
    if (exact != entries_.end()) return *exact->second;
    if (with_contents) key += contents_key(given);
  }
  if (const auto found = entries_.find(key); found != entries_.end()) return *found->second;
  const auto add = [&](const std::string& name, Made made) -> Entry& {
    auto& entry = entries_[name];
    entry = std::make_unique<Entry>(std::move(made.plan), made.division);
    return *entry;
  };
  if (shapes_ == ShapesBy::data && entries_.size() >= kMostDataPlans) {
    // Ever new shapes: one plan for all of them, whose steps choose their kernels as they run.
    const auto open = entries_.find(kOpenKey);
    return open != entries_.end() ? *open->second : add(kOpenKey, make(given, Known::dtypes));
  }
  Made made = make(given, with_contents ? Known::small_contents : Known::shapes);
  const bool could_matter = std::any_of(given.begin(), given.end(), may_be_shape);
  if (!contents_matter_ && could_matter && made.open_steps > 0) {
    // Shapes that depend on a small integer input: plan for its contents too, if that closes any.
    Made closed = make(given, Known::small_contents);
    if (closed.open_steps < made.open_steps) {
      contents_matter_ = true;
      add(key, std::move(made));
      ++content_plans_;
      return add(key + contents_key(given), std::move(closed));
    }
  }
  if (with_contents) ++content_plans_;
  return add(key, std::move(made));
}

std::shared_ptr<const Plan> GraphSession::plan(std::span<const Tensor> given) {
  Entry& entry = entry_for(given);
  if (entry.division == nullptr) return entry.plan;
  std::vector<Tensor> outputs(entry.plan->outputs.size());
  const auto rest = entry.division->tail->plan(run_head(entry, given, outputs, {}));
  auto all = std::make_shared<Plan>(*entry.plan);
  all->steps.insert(all->steps.end(), rest->steps.begin(), rest->steps.end());
  all->arena_bytes += rest->arena_bytes;
  return all;
}

void GraphSession::add_memory(SessionMemory& memory, std::map<const std::byte*, int64_t>& constants) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    ++memory.plans;
    entry->plan->add_constants(constants);
    memory.largest_arena_bytes = std::max(memory.largest_arena_bytes, entry->plan->arena_bytes);
    memory.held_arena_bytes += entry->plan->arena_bytes * entry->states.made();
  }
  for (const auto& [nodes, division] : divisions_) division->tail->add_memory(memory, constants);
}

SessionMemory GraphSession::memory() {
  SessionMemory memory;
  std::map<const std::byte*, int64_t> constants;
  add_memory(memory, constants);
  for (const auto& [storage, bytes] : constants) memory.constant_bytes += bytes;
  return memory;
}

void GraphSession::run_plan(Entry& entry, std::span<const Tensor> given, std::span<Tensor> outputs,
                            const RunOptions& options) {
  struct Lease {
    RunStatePool& pool;
    std::unique_ptr<RunState> state = pool.take();
    ~Lease() {
      state->release();
      pool.give_back(std::move(state));
    }
  } lease{entry.states};
  RunState& state = *lease.state;
  state.begin(given, outputs);
  const std::vector<Step>& steps = entry.plan->steps;
  if (options.step_ms != nullptr) options.step_ms->assign(steps.size(), 0);
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto begin = options.step_ms == nullptr ? Clock::time_point() : Clock::now();
    if (steps[i].kernel)
      run_named(steps[i], i, state);
    else
      run_dynamic(steps[i], state, options.seed);
    if (options.step_ms != nullptr)
      (*options.step_ms)[i] = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  state.take_outputs(outputs);
}

std::vector<Tensor> GraphSession::run_head(Entry& entry, std::span<const Tensor> given, std::span<Tensor> outputs,
                                           const RunOptions& options) {
  run_plan(entry, given, outputs, options);
  std::vector<Tensor> rest;
  for (const PartSource& source : entry.division->parts.tail_inputs)
    rest.push_back(source.kind == PartSource::Kind::given ? given[source.index] : outputs[source.index]);
  return rest;
}

void GraphSession::run(std::span<const Tensor> given, std::span<Tensor> outputs, const RunOptions& options) {
  Entry& entry = entry_for(given);
  if (entry.division == nullptr) return run_plan(entry, given, outputs, options);
  const DividedGraph& parts = entry.division->parts;
  std::vector<Tensor> of_head(parts.head->outputs.size()), of_tail(parts.tail->outputs.size());
  // Tensors that the caller wants written go to the part that makes them.
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PartSource& source = parts.outputs[i];
    (source.kind == PartSource::Kind::tail ? of_tail : of_head)[source.index] = outputs[i];
  }
  const std::vector<Tensor> rest = run_head(entry, given, of_head, options);
  RunOptions tail_options = options;
  std::vector<double> tail_ms;
  if (options.step_ms != nullptr) tail_options.step_ms = &tail_ms;
  entry.division->tail->run(rest, of_tail, tail_options);
  if (options.step_ms != nullptr) options.step_ms->insert(options.step_ms->end(), tail_ms.begin(), tail_ms.end());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const PartSource& source = parts.outputs[i];
    if (outputs[i].empty())
      outputs[i] = source.kind == PartSource::Kind::tail ? of_tail[source.index] : of_head[source.index];
  }
}

GraphSession& GraphSession::body(const Graph& graph) {
  const std::lock_guard lock(mutex_);
  auto& session = bodies_[&graph];
  // The body lives as long as the graph that holds it, so it is shared without owning.
  if (!session) session = std::make_unique<GraphSession>(std::shared_ptr<const Graph>(graph_, &graph), options_);
  return *session;
}

void GraphSession::run_dynamic(const Step& step, RunState& state, uint64_t seed) {
  std::vector<Tensor> tensors(step.inputs.size());
  std::vector<const Tensor*> inputs(step.inputs.size(), nullptr);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i] == kNoSlot) continue;
    tensors[i] = state.tensor(step.inputs[i]);
    inputs[i] = &tensors[i];
  }
  std::vector<Tensor> outputs;
  if (!step.captures.empty() || !run_by_provider(*step.node, inputs, outputs)) {
    RunNodeOptions options;
    options.random_seed = seed;
    options.run_subgraph = [&](const Graph& graph, std::span<const Tensor> body_inputs) {
      std::vector<Tensor> given(body_inputs.begin(), body_inputs.end());
      for (const Capture& capture : graph.captures) given.push_back(state.tensor(step.captures.at(capture.outer)));
      std::vector<Tensor> results(graph.outputs.size());
      body(graph).run(given, results, {.seed = seed});
      return results;
    };
    outputs = run_node(*step.node, inputs, options);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (step.outputs[i] == kNoSlot) continue;
    // A result that shares an input's storage would not outlive it in the arena.
    const bool shares =
        std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.bytes() == outputs[i].bytes(); });
    state.set_dynamic(step.outputs[i], shares ? outputs[i].clone() : std::move(outputs[i]));
  }
}

/// Shapes are known now that the inputs are here, so a provider's kernel can serve. False when only the reference
/// could.
bool GraphSession::run_by_provider(const Node& node, std::span<const Tensor* const> inputs,
                                   std::vector<Tensor>& outputs) {
  if (options_->providers.size() < 2) return false;
  const std::vector<ValueType> types = infer_node(node, inputs);
  Workload workload{node.domain, node.op, node.version, node.attributes, {}, {}, options_->mode};
  for (const Tensor* tensor : inputs)
    workload.inputs.push_back(tensor ? std::optional(TensorSpec{tensor->dtype(), tensor->dims(), Layout::plain, false})
                                     : std::nullopt);
  for (size_t i = 0; i < types.size(); ++i) {
    const auto dims = concrete(types[i].shape);
    if (node.outputs[i] == kNoValue)
      workload.outputs.emplace_back();
    else if (!dims || types[i].dtype == DType::undefined)
      return false;
    else
      workload.outputs.push_back(TensorSpec{types[i].dtype, *dims, Layout::plain, false});
  }
  const KernelChoice& choice = cache_.choice(workload, *options_);
  if (choice.provider == nullptr || choice.provider == options_->providers.back()) return false;
  const auto kernel = cache_.kernel(workload, *choice.provider, choice.config);
  std::vector<const std::byte*> input_pointers;
  std::vector<std::byte*> output_pointers;
  for (const Tensor* tensor : inputs) input_pointers.push_back(tensor ? tensor->bytes() : nullptr);
  for (const auto& spec : workload.outputs) {
    outputs.push_back(spec ? Tensor::allocate(spec->dtype, spec->dims) : Tensor());
    output_pointers.push_back(spec ? outputs.back().mutable_bytes() : nullptr);
  }
  Tensor workspace = Tensor::allocate(DType::u8, {kernel->workspace_bytes()});
  const auto state = kernel->make_state();
  const std::vector<Tensor> prepared = kernel->prepare(std::vector<const Tensor*>(inputs.size(), nullptr));
  const KernelArguments arguments{input_pointers, output_pointers, prepared, workspace.mutable_bytes(), state.get()};
  kernel->run(arguments, 0, kernel->task_count());
  return true;
}

}  // namespace attune
