#include "runtime/session.h"

#include "base/float_mode.h"
#include "ops/infer_graph.h"
#include "providers/providers.h"
#include "rewrite/pipeline.h"
#include "runtime/graph_session.h"

namespace attune {
namespace {

std::shared_ptr<const PlanOptions> plan_options(const SessionOptions& options) {
  auto result = std::make_shared<PlanOptions>();
  result->mode = options.mode;
  result->memory_limit_bytes = options.memory_limit_bytes;
  result->recorded = options.recorded;
  for (const std::string& name : options.providers) result->providers.push_back(&require_provider(name));
  if (options.providers.empty()) result->providers.assign(providers().begin(), providers().end());
  const Provider& last_resort = require_provider("reference");
  if (result->providers.back() != &last_resort) result->providers.push_back(&last_resort);
  return result;
}

}  // namespace

Session::Session(Graph graph, SessionOptions options) {
  check_operators(graph);
  rewrite::PipelineOptions passes;
  if (options.dtype == DType::bf16) passes.switched_on.insert("use_bf16");
  if (options.rewrite) rewrite::run_pipeline(graph, passes);
  session_ = std::make_unique<GraphSession>(std::make_shared<const Graph>(std::move(graph)), plan_options(options));
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::vector<Tensor> Session::run(std::span<const Tensor> inputs, const RunOptions& options) const {
  if (inputs.size() != graph().inputs.size())
    throw UserError("the model takes {} inputs, got {}", graph().inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) check_input(graph().value(graph().inputs[i]), inputs[i]);
  flush_denormals_in_pool();
  return session_->run(inputs, options.seed);
}

std::shared_ptr<const Plan> Session::plan(std::span<const Tensor> inputs) const { return session_->plan(inputs); }
const Graph& Session::graph() const { return session_->graph(); }

}  // namespace attune
