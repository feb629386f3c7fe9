#include "runtime/session.h"

#include "base/float_mode.h"
#include "base/parallel.h"
#include "base/pinning.h"
#include "base/suggest.h"
#include "base/thread_count_scope.h"
#include "ops/infer_graph.h"
#include "ops/registry.h"
#include "providers/providers.h"
#include "rewrite/pipeline.h"
#include "runtime/graph_session.h"

namespace attune {
namespace {

void require_operator_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OpDef& op : all_ops()) names.push_back(op.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const auto meant = nearest(name, names);
  throw UserError("there is no operator '{}' to set a numeric mode for{}", name,
                  meant ? fmt::format("; did you mean '{}'?", *meant) : "");
}

std::shared_ptr<const PlanOptions> plan_options(const SessionOptions& options) {
  auto result = std::make_shared<PlanOptions>();
  result->mode = options.mode;
  for (const std::string& name : options.mode_operators) {
    require_operator_name(name);
    result->mode_operators.insert(name);
  }
  result->layout = options.layout;
  result->node_layouts = options.node_layouts;
  result->memory_limit_bytes = options.memory_limit_bytes;
  result->recorded = options.recorded;
  result->advisor = options.advisor;
  for (const std::string& name : options.providers) result->providers.push_back(&require_provider(name));
  if (options.providers.empty()) result->providers.assign(providers().begin(), providers().end());
  const Provider& last_resort = require_provider("reference");
  if (result->providers.back() != &last_resort) result->providers.push_back(&last_resort);
  return result;
}

void check_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size())
    throw UserError("the model takes {} inputs, got {}", graph.inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) check_input(graph.value(graph.inputs[i]), inputs[i]);
}

}  // namespace

Session::Session(Graph graph, SessionOptions options) : threads_(options.threads), pin_workers_(options.pin_workers) {
  const ThreadCountScope threads(threads_);
  check_operators(graph);
  rewrite::PipelineOptions passes;
  if (options.dtype == DType::bf16) passes.switched_on.insert("use_bf16");
  passes.switched_off.insert(options.without_passes.begin(), options.without_passes.end());
  passes.left_alone = options.left_alone;
  passes.asked_for = options.asked_for;
  if (options.rewrite) rewrites_ = rewrite::run_pipeline(graph, passes);
  session_ = std::make_unique<GraphSession>(std::make_shared<const Graph>(std::move(graph)), plan_options(options));
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<Tensor> Session::run(std::span<const Tensor> inputs, const RunOptions& options) const {
  std::vector<Tensor> outputs(graph().outputs.size());
  run_into(inputs, outputs, options);
  return outputs;
}

void Session::run_into(std::span<const Tensor> inputs, std::span<Tensor> outputs, const RunOptions& options) const {
  check_inputs(graph(), inputs);
  if (outputs.size() != graph().outputs.size())
    throw UserError("the model gives {} outputs, got room for {}", graph().outputs.size(), outputs.size());
  const ThreadCountScope threads(threads_);
  if (pin_workers_) pin_pool_workers();
  const FlushDenormals flush;
  session_->run(inputs, outputs, options);
}

std::shared_ptr<const Plan> Session::plan(std::span<const Tensor> inputs) const {
  const ThreadCountScope threads(threads_);
  check_inputs(graph(), inputs);
  return session_->plan(inputs);
}

SessionMemory Session::memory() const { return session_->memory(); }
const Graph& Session::graph() const { return session_->graph(); }

}  // namespace attune
