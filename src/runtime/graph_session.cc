#include "runtime/graph_session.h"

#include "ops/run_node.h"
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

bool has_open_shapes(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) { return !step.kernel; });
}

}  // namespace

GraphSession::GraphSession(std::shared_ptr<const Graph> graph, std::shared_ptr<const PlanOptions> options)
    : graph_(std::move(graph)), options_(std::move(options)) {}

std::shared_ptr<const Plan> GraphSession::make(std::span<const Tensor> given, bool with_contents) {
  InferOptions infer;
  for (size_t i = 0; i < given.size(); ++i) {
    const ValueId id =
        i < graph_->inputs.size() ? graph_->inputs[i] : graph_->captures[i - graph_->inputs.size()].inner;
    infer.types[id] = {given[i].dtype(), to_shape(given[i].dims())};
    if (with_contents && may_be_shape(given[i])) infer.contents[id] = given[i];
  }
  return std::make_shared<const Plan>(make_plan(graph_, infer_graph(*graph_, infer), *options_, cache_));
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
  auto& entry = entries_[key];
  if (!entry) {
    auto plan = make(given, with_contents);
    const bool could_matter = std::any_of(given.begin(), given.end(), may_be_shape);
    if (!contents_matter_ && could_matter && has_open_shapes(*plan)) {
      // Shapes that depend on a small integer input: plan for its contents too, if that closes any.
      auto closed = make(given, true);
      const auto open = [](const Plan& p) {
        return std::count_if(p.steps.begin(), p.steps.end(), [](const Step& s) { return !s.kernel; });
      };
      if (open(*closed) < open(*plan)) {
        contents_matter_ = true;
        entry = std::make_unique<Entry>(std::move(plan));
        ++content_plans_;
        auto& exact = entries_[key + contents_key(given)];
        exact = std::make_unique<Entry>(std::move(closed));
        return *exact;
      }
    }
    if (with_contents) ++content_plans_;
    entry = std::make_unique<Entry>(std::move(plan));
  }
  return *entry;
}

std::shared_ptr<const Plan> GraphSession::plan(std::span<const Tensor> given) { return entry_for(given).plan; }

SessionMemory GraphSession::memory() {
  const std::lock_guard lock(mutex_);
  SessionMemory memory;
  std::map<const std::byte*, int64_t> constants;
  for (const auto& [key, entry] : entries_) {
    ++memory.plans;
    entry->plan->add_constants(constants);
    memory.largest_arena_bytes = std::max(memory.largest_arena_bytes, entry->plan->arena_bytes);
    memory.held_arena_bytes += entry->plan->arena_bytes * entry->states.made();
  }
  for (const auto& [storage, bytes] : constants) memory.constant_bytes += bytes;
  return memory;
}

void GraphSession::run(std::span<const Tensor> given, std::span<Tensor> outputs, const RunOptions& options) {
  Entry& entry = entry_for(given);
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
  const KernelChoice choice = choose_kernel(workload, options_->providers);
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
