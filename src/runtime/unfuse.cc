#include "runtime/unfuse.h"

#include "ops/epilogue.h"
#include "ops/fused_separable.h"
#include "ops/shuffled_conv.h"
#include "ops/squeeze_excite.h"
#include "runtime/advisor.h"
#include "runtime/input_shapes.h"
#include "runtime/layout_policy.h"
#include "runtime/unfuse_vector.h"
#include "runtime/winograd_rule.h"

#include <algorithm>

namespace attune {
namespace {

constexpr int kBaseOpset = 22;

bool is_vector(const Node& node) { return node.domain == "attune" && node.op == "FusedVector"; }

bool is_separable(const Node& node) { return node.domain == "attune" && node.op == "FusedSeparable"; }

bool is_shuffled(const Node& node) { return node.domain == "attune" && node.op == "ShuffledConv"; }

bool is_squeeze_excite(const Node& node) { return node.domain == "attune" && node.op == "SqueezeExcite"; }

bool is_fused(const Node& node) {
  return is_vector(node) || is_separable(node) || is_shuffled(node) || is_squeeze_excite(node) ||
         (node.domain == "attune" && (node.op == "FusedConv" || node.op == "FusedMatMul"));
}

/// The workload as the planner will ask for it; nothing while shapes are open.
std::optional<Workload> planned_workload(const Graph& graph, const GraphFacts& facts, const Node& node,
                                         const PlanOptions& options) {
  auto workload = make_workload(graph, facts, node);
  if (!workload) return std::nullopt;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (workload->inputs[i])
      workload->inputs[i]->constant = !facts.constants[static_cast<size_t>(node.inputs[i])].empty();
  workload->mode = options.mode_of(node);
  return workload;
}

bool only_reference_serves(const Graph& graph, const GraphFacts& facts, const Node& node, const RegionLayouts& region,
                           const PlanOptions& options, PlanCache& cache) {
  const auto workload = planned_workload(graph, facts, node, options);
  if (!workload) return false;  // shapes come later; the run-time choice is made then
  for (const Layout layout : layout_candidates(*workload, region, Layout::plain)) {
    const KernelChoice& choice = cache.choice(with_layout(*workload, layout), options);
    if (choice.provider != nullptr && choice.provider != options.providers.back()) return false;
  }
  return true;
}

/// Text of these has its sizes in it, so every new shape of the inputs would be compiled for, which takes as long as
/// hundreds of runs save. Who asks for generated kernels or has measured this one gets it all the same.
bool compiles_for_one_shape(const Graph& graph, const GraphFacts& facts, const Node& node, const PlanOptions& options) {
  if (!(is_vector(node) || is_shuffled(node)) || input_shapes(graph) == InputShapes::fixed ||
      options.providers.front()->name() == "generated")
    return false;
  const auto workload = planned_workload(graph, facts, node, options);
  return !workload || !options.advisor || !options.advisor->advise(*workload);
}

Node without_epilogue(const Node& fused) {
  const bool conv = fused.op == "FusedConv";
  Node base = fused;
  base.domain.clear();
  base.op = conv ? "Conv" : "MatMul";
  base.version = kBaseOpset;
  base.attributes.erase("epilogue");
  base.inputs.resize(conv ? 3 : 2);
  if (base.inputs.back() == kNoValue) base.inputs.pop_back();
  return base;
}

/// The transforms save about half of a convolution; passing over its result once more for each step of the epilogue
/// costs far less.
bool wants_winograd(const Graph& graph, const GraphFacts& facts, const Node& node, const RegionLayouts& region,
                    const PlanOptions& options, PlanCache& cache) {
  if (node.op != "FusedConv") return false;
  const auto fused = planned_workload(graph, facts, node, options);
  if (!fused || fused->input(0).dtype != DType::f32 || !suits_winograd(node, fused->input(1).dims)) return false;
  if (is_winograd(cache.choice(with_layout(*fused, region.floats), options).config)) return false;
  Workload alone = *fused;
  const Node base = without_epilogue(node);
  alone.domain = base.domain;
  alone.op = base.op;
  alone.version = base.version;
  alone.attributes = base.attributes;
  alone.inputs.resize(base.inputs.size());
  return is_winograd(cache.choice(with_layout(alone, region.floats), options).config);
}

/// Both convolutions, each with its epilogue.
void take_separable_apart(Graph& graph, const GraphFacts& facts, const Node& fused, std::vector<Node>& nodes) {
  Value value;
  value.name = graph.value(fused.outputs[0]).name + "_depthwise";
  const auto type = [&](ValueId id) { return facts.types[static_cast<size_t>(id)]; };
  value.dtype = type(fused.inputs[kSeparableMap]).dtype;
  value.shape = type(fused.outputs[0]).shape;
  if (value.shape) (*value.shape)[1] = type(fused.inputs[kDepthwiseWeights]).shape.value()[0];
  SeparableParts parts = separable_parts(fused, graph.add_value(std::move(value)));
  nodes.push_back(std::move(parts.depthwise));
  nodes.push_back(std::move(parts.pointwise));
}

/// The convolution with its epilogue, and the shuffle.
void take_shuffled_apart(Graph& graph, const GraphFacts& facts, const Node& fused, std::vector<Node>& nodes) {
  const ValueType& beside = facts.types[static_cast<size_t>(fused.inputs[kShuffledBeside])];
  Value value;
  value.name = fused.name + "_unshuffled";
  value.dtype = beside.dtype;
  value.shape = beside.shape;
  ShuffledParts parts = shuffled_parts(fused, graph.add_value(std::move(value)));
  nodes.push_back(std::move(parts.conv));
  nodes.push_back(std::move(parts.shuffle));
}

/// The mean, the convolutions, each with its epilogue, and the product.
void take_squeeze_excite_apart(Graph& graph, const GraphFacts& facts, const Node& fused, std::vector<Node>& nodes) {
  const ValueType& map = facts.types[static_cast<size_t>(fused.inputs[kExcitedMap])];
  const auto& squeeze = facts.types[static_cast<size_t>(fused.inputs[kSqueezeWeights])].shape;
  const auto fresh = [&](const char* what, const Dim& channels) {
    Value value;
    value.name = graph.value(fused.outputs[0]).name + what;
    value.dtype = map.dtype;
    value.shape = map.shape;
    if (value.shape) {
      std::fill(value.shape->begin() + 2, value.shape->end(), Dim(1));
      (*value.shape)[1] = channels;
    }
    return graph.add_value(std::move(value));
  };
  const Dim &channels = squeeze.value()[1], &squeezed = squeeze.value()[0];
  SqueezeExciteParts parts =
      squeeze_excite_parts(fused, {fresh("_mean", channels), fresh("_squeezed", squeezed), fresh("_gate", channels)});
  for (Node* part : {&parts.pool, &parts.squeeze, &parts.excite, &parts.product}) nodes.push_back(std::move(*part));
}

/// The operator and its epilogue as nodes of their own.
void take_apart(Graph& graph, const ValueType& result, const Node& fused, std::vector<Node>& nodes) {
  Node base = without_epilogue(fused);
  const auto fresh = [&] {
    Value value;
    value.name = graph.value(fused.outputs[0]).name + "_part";
    value.dtype = result.dtype;
    value.shape = result.shape;
    return graph.add_value(std::move(value));
  };
  const auto steps = parse_epilogue(fused.attributes);
  ValueId current = steps.empty() ? fused.outputs[0] : fresh();
  base.outputs = {current};
  nodes.push_back(std::move(base));
  for (size_t i = 0; i < steps.size(); ++i) {
    Node part = epilogue_node(steps[i]);
    part.name = fused.name + " " + to_text(steps[i]);
    part.inputs[0] = current;
    if (steps[i].is_binary()) part.inputs[1] = fused.inputs[static_cast<size_t>(steps[i].input)];
    current = i + 1 == steps.size() ? fused.outputs[0] : fresh();
    part.outputs = {current};
    nodes.push_back(std::move(part));
  }
}

}  // namespace

std::shared_ptr<const Graph> unfuse(const Graph& graph, const GraphFacts& facts, const PlanOptions& options,
                                    PlanCache& cache) {
  if (options.providers.size() < 2) return nullptr;  // the reference runs them fused or not
  const RegionLayouts region = region_layouts(graph, facts, options.layout);
  std::shared_ptr<Graph> result;  // a copy, made when the first node is taken apart
  std::vector<Node> nodes;
  for (const Node& node : graph.nodes()) {
    // What an earlier plan kept fused has a kernel.
    if (!is_fused(node) || options.recorded.count(node.name) ||
        !(only_reference_serves(graph, facts, node, region, options, cache) ||
          wants_winograd(graph, facts, node, region, options, cache) ||
          compiles_for_one_shape(graph, facts, node, options))) {
      nodes.push_back(node);
      continue;
    }
    if (!result) result = std::make_shared<Graph>(graph);
    if (is_vector(node))
      take_vector_apart(*result, facts, node, nodes);
    else if (is_separable(node))
      take_separable_apart(*result, facts, node, nodes);
    else if (is_shuffled(node))
      take_shuffled_apart(*result, facts, node, nodes);
    else if (is_squeeze_excite(node))
      take_squeeze_excite_apart(*result, facts, node, nodes);
    else
      take_apart(*result, facts.types[static_cast<size_t>(node.outputs[0])], node, nodes);
  }
  if (result) result->set_nodes(std::move(nodes));
  return result;
}

}  // namespace attune
