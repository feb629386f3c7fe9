#include "rewrite/fuse_squeeze_excite.h"

#include "ops/convolution_parts.h"
#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "ops/squeeze_excite.h"
#include "rewrite/uses.h"
#include "rewrite/vector_step.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

class Fuser {
 public:
  Fuser(Graph& graph, const LeftAlone& left_alone)
      : graph_(graph),
        left_alone_(left_alone),
        facts_(infer_graph(graph)),
        uses_(graph),
        removed_(graph.nodes().size(), false) {}

  Places run() {
    for (Node& node : graph_.nodes())
      if (node.domain.empty() && node.op == "Mul" && node.inputs.size() == 2 && node.inputs[0] != node.inputs[1])
        for (const size_t i : {size_t{0}, size_t{1}})
          if (fuse(node, node.inputs[i], node.inputs[1 - i])) break;
    if (!places_.empty()) erase_nodes(graph_, removed_);
    return std::move(places_);
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }

  /// The node that makes a value which one node alone reads; kNoNode otherwise.
  NodeId maker_for_one(ValueId id) const { return uses_.count(id) == 1 ? graph_.value(id).producer : kNoNode; }

  /// A 1x1 convolution with constant weights. Operands of its epilogue are constant numbers.
  bool is_gate_part(const Node& node, bool may_have_operands) const {
    const bool conv = (node.domain.empty() && node.op == "Conv") || (node.domain == "attune" && node.op == "FusedConv");
    const Tensor* weights = conv ? constant_input(graph_, node, 1) : nullptr;
    if (weights == nullptr || weights->rank() < 3 ||
        element_count(weights->dims()) != weights->dim(0) * weights->dim(1))
      return false;
    if (attribute_or<int64_t>(node.attributes, "group", 1) != 1 || !has_only(node.attributes, "strides", 1) ||
        !has_only(node.attributes, "pads", 0))
      return false;
    if (input_or_none(node, 2) != kNoValue && constant_input(graph_, node, 2) == nullptr) return false;
    return std::ranges::all_of(parse_epilogue(node.attributes), [&](const EpilogueStep& step) {
      if (!step.is_binary()) return true;
      return may_have_operands && scalar_input(graph_, node, static_cast<size_t>(step.input)).has_value();
    });
  }

  /// With what follows it (a residual, an activation) the product is one pass over memory as a chain of vector
  /// operators. Those are for shapes that are known.
  bool goes_into_a_chain(const Node& product) const {
    const NodeId reader = uses_.only_reader(product.outputs[0]);
    return reader != kNoNode && concrete(type(product.outputs[0]).shape) &&
           as_vector_step(graph_, facts_, graph_.node(reader)).has_value();
  }

  bool fuse(Node& product, ValueId map, ValueId gate) {
    const NodeId excite_id = maker_for_one(gate);
    if (excite_id == kNoNode || !is_gate_part(graph_.node(excite_id), true)) return false;
    const Node& excite = graph_.node(excite_id);
    const NodeId squeeze_id = maker_for_one(excite.inputs[0]);
    if (squeeze_id == kNoNode || !is_gate_part(graph_.node(squeeze_id), false)) return false;
    const Node& squeeze = graph_.node(squeeze_id);
    const NodeId pool_id = maker_for_one(squeeze.inputs[0]);
    if (pool_id == kNoNode) return false;
    const Node& pool = graph_.node(pool_id);
    if (!pool.domain.empty() || pool.op != "GlobalAveragePool" || pool.inputs[0] != map) return false;
    // A gate for each channel, provably; it could also be one for all, or spread a map of one channel over several.
    const int64_t gates = constant_input(graph_, excite, 1)->dim(0);
    if (!type(map).shape || type(map).shape->size() < 3 || !((*type(map).shape)[1] == Dim(gates))) return false;
    if (goes_into_a_chain(product)) return false;
    for (const NodeId id : {pool_id, squeeze_id, excite_id})
      if (left_alone_.count(graph_.node(id).name) > 0) return false;
    if (left_alone_.count(product.name) > 0) return false;
    places_.push_back({.anchor = part_of(product), .parts = {part_of(pool), part_of(squeeze), part_of(excite)}});
    product = squeeze_excite(map, squeeze, excite, product);
    for (const NodeId id : {pool_id, squeeze_id, excite_id}) removed_[static_cast<size_t>(id)] = true;
    return true;
  }

  Graph& graph_;
  const LeftAlone& left_alone_;
  GraphFacts facts_;
  Uses uses_;
  std::vector<bool> removed_;
  Places places_;
};

}  // namespace

Places fuse_squeeze_excite(Graph& graph, const LeftAlone& left_alone) {
  try {
    return Fuser(graph, left_alone).run();
  } catch (const UserError&) {
    return {};  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
