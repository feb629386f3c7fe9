#include "job/precision/choose_precision.h"

#include "job/precision/output_error.h"

#include <algorithm>

namespace attune {
namespace {

constexpr double kCompareShare = 0.08, kShortestCompare = 0.5, kLongestCompare = 5;  // of the time; seconds

int64_t count_bf16(const Graph& graph) {
  int64_t count = 0;
  for (const Node& node : graph.nodes()) {
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) count += count_bf16(**body);
    const bool gives_bf16 = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
      return id != kNoValue && graph.value(id).dtype == DType::bf16;
    });
    count += gives_bf16 && node.op != "Cast";
  }
  return count;
}

}  // namespace

PrecisionOutcome choose_precision(Graph graph, const SessionOptions& session, const PrecisionInputs& inputs,
                                  const PrecisionOptions& options) {
  const JobClock clock(options.budget_s, options.stop);
  options.on_progress("the model in f32");
  SessionTrials trials(std::move(graph), session, inputs, options.compare, options.stop);
  PrecisionSearchOptions search;
  search.accuracy_budget = options.accuracy_budget;
  search.compare_s = std::clamp(options.budget_s * kCompareShare, kShortestCompare, kLongestCompare);
  search.on_progress = options.on_progress;
  const PrecisionDecision decision = PrecisionSearch(trials, clock, search).run();

  PrecisionStatement statement;
  const size_t lowered = decision.lowered.size(), products = trials.region_count();
  statement.precision = lowered == 0 ? "f32" : lowered == products ? "bf16" : "mixed";
  statement.budget = options.accuracy_budget;
  statement.error = decision.error;
  statement.metric = kOutputErrorMetric;
  statement.products = static_cast<int64_t>(products);
  statement.lowered = static_cast<int64_t>(lowered);
  statement.inputs = inputs.origin;
  statement.seeds = trials.seeds();
  statement.input_sets = inputs.origin == InputOrigin::given ? 1 : static_cast<int64_t>(statement.seeds.size());
  statement.reason = decision.reason;
  if (lowered > 0) {
    statement.new_seeds = trials.new_seeds();
    statement.speedup = decision.runs.ratio;
    statement.speedup_interval = decision.runs.ratio_interval;
    for (size_t i = 0; i < products; ++i)
      if (decision.lowered.count(i) == 0) statement.kept.push_back(trials.regions()[i].product);
  }
  SessionOptions chosen = trials.options_for(decision.lowered);
  std::vector<KnownOutputs> known = trials.known();
  Session result = trials.take_session(decision.lowered);
  statement.operators = count_bf16(result.graph());
  result.state_precision(std::move(statement));
  return {std::move(result), std::move(chosen), std::move(known), decision.interrupted};
}

bool restate_precision(Session& session, const PrecisionOutcome& chosen) {
  PrecisionStatement statement = chosen.session.precision().value();
  if (statement.precision != "f32") {
    const double error = error_on(session, chosen.known);
    if (error > statement.budget) return false;
    statement.error = error;
  }
  session.state_precision(std::move(statement));
  return true;
}

}  // namespace attune
