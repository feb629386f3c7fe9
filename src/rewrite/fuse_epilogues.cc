#include "rewrite/fuse_epilogues.h"

#include "ops/convert.h"
#include "ops/epilogue.h"
#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/as_activation.h"
#include "rewrite/uses.h"

namespace attune::rewrite {
namespace {

using Kind = EpilogueStep::Kind;

constexpr size_t kMostSteps = 6;  // chains beyond that gain nothing and strain code generators

/// `other` broadcasts to the shape of `result` without changing it, provably.
bool broadcasts_into(const ValueType& other, const ValueType& result) {
  if (!other.shape || !result.shape || other.dtype != result.dtype || other.shape->size() > result.shape->size())
    return false;
  const size_t offset = result.shape->size() - other.shape->size();
  for (size_t i = 0; i < other.shape->size(); ++i) {
    const Dim& dim = (*other.shape)[i];
    if (!(dim == Dim(1)) && !(dim == (*result.shape)[offset + i])) return false;
  }
  return true;
}

struct Anchor {
  const char* fused_op;
  size_t operands;  // inputs of the operator itself; those of the epilogue follow
};

std::optional<Anchor> anchor_of(const Node& node) {
  if (node.domain.empty() && node.op == "Conv") return Anchor{"FusedConv", 3};
  if (node.domain.empty() && node.op == "MatMul") return Anchor{"FusedMatMul", 2};
  return std::nullopt;
}

class Fuser {
 public:
  Fuser(Graph& graph, const LeftAlone& left_alone)
      : graph_(graph),
        left_alone_(left_alone),
        facts_(infer_graph(graph)),
        uses_(graph),
        removed_(graph.nodes().size(), false) {}

  Places run() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i)
      if (!removed_[i] && anchor_of(graph_.nodes()[i]) && left_alone_.count(graph_.nodes()[i].name) == 0)
        fuse(static_cast<NodeId>(i));
    if (!places_.empty()) erase_nodes(graph_, removed_);
    return std::move(places_);
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }

  void fuse(NodeId start) {
    const Anchor anchor = *anchor_of(graph_.node(start));
    if (!is_float(type(graph_.node(start).outputs[0]).dtype)) return;
    Place place{.anchor = part_of(graph_.node(start)), .parts = {}, .is_chain = true};
    Node fused = graph_.node(start);
    fused.domain = "attune";
    fused.op = anchor.fused_op;
    fused.version = 1;
    fused.inputs.resize(anchor.operands, kNoValue);
    std::vector<EpilogueStep> steps;
    NodeId last = start;
    ValueId result = fused.outputs[0];
    while (steps.size() < kMostSteps) {
      const NodeId reader = uses_.only_reader(result);
      if (reader == kNoNode || removed_[static_cast<size_t>(reader)]) break;
      if (left_alone_.count(graph_.node(reader).name) > 0) break;
      const auto step = as_step(graph_.node(reader), result, fused);
      if (!step) break;
      steps.push_back(*step);
      place.parts.push_back(part_of(graph_.node(reader)));
      removed_[static_cast<size_t>(last)] = true;
      last = reader;
      result = graph_.node(reader).outputs[0];
    }
    if (steps.empty()) return;
    fused.outputs = {result};
    fused.attributes["epilogue"] = epilogue_attribute(steps);
    // It stands where the last part stood: the other operands are there by then.
    graph_.node(last) = std::move(fused);
    places_.push_back(std::move(place));
  }

  /// A division by a constant number is a multiplication by its inverse.
  std::optional<EpilogueStep> as_division(const Node& node, ValueId result, Node& fused) {
    const auto divisor = node.domain.empty() && node.op == "Div" && node.inputs[0] == result
                             ? scalar_input(graph_, node, 1)
                             : std::nullopt;
    if (!divisor || *divisor == 0 || !broadcasts_into(type(node.inputs[1]), type(result))) return std::nullopt;
    const Tensor inverse = convert(Tensor::scalar<double>(1 / *divisor), type(result).dtype);
    EpilogueStep step{Kind::mul};
    step.input = static_cast<int>(fused.inputs.size());
    fused.inputs.push_back(graph_.add_constant(graph_.value(node.inputs[1]).name + "_inverse", inverse));
    facts_.types.push_back({inverse.dtype(), Shape{}});
    return step;
  }

  /// The step that `node` does to `result`; a second operand is appended to the fused node's inputs.
  std::optional<EpilogueStep> as_step(const Node& node, ValueId result, Node& fused) {
    if (node.outputs.size() != 1) return std::nullopt;
    if (const auto activation = as_activation(graph_, node); activation && node.inputs[0] == result) return activation;
    if (const auto step = as_division(node, result, fused)) return step;
    const bool add = node.op == "Add", mul = node.op == "Mul";
    if (!node.domain.empty() || (!add && !mul) || node.inputs.size() != 2) return std::nullopt;
    if (node.inputs[0] == node.inputs[1]) return std::nullopt;
    const ValueId other = node.inputs[0] == result ? node.inputs[1] : node.inputs[0];
    if (!broadcasts_into(type(other), type(result))) return std::nullopt;
    EpilogueStep step{add ? Kind::add : Kind::mul};
    step.input = static_cast<int>(fused.inputs.size());
    fused.inputs.push_back(other);
    return step;
  }

  Graph& graph_;
  const LeftAlone& left_alone_;
  GraphFacts facts_;
  Uses uses_;
  std::vector<bool> removed_;
  Places places_;
};

}  // namespace

Places fuse_epilogues(Graph& graph, const LeftAlone& left_alone) {
  try {
    return Fuser(graph, left_alone).run();
  } catch (const UserError&) {
    return {};  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
