#include "rewrite/fuse_attention.h"

#include "ops/node_traits.h"
#include "rewrite/attention_operand.h"
#include "rewrite/causal_mask.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

namespace attune::rewrite {
namespace {

/// What happens to the products of queries and keys before the softmax.
struct Scores {
  NodeId product = kNoNode;
  double scale = 1;
  ValueId mask = kNoValue;  // added, or bools that go with `fill`
  bool causal = false;
  bool true_is_visible = true;
  std::optional<float> fill;
};

class Fuser {
 public:
  Fuser(Graph& graph, const LeftAlone& left_alone)
      : graph_(graph), left_alone_(left_alone), facts_(infer_graph(graph)), uses_(graph) {}

  Places run() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i)
      if (is(static_cast<NodeId>(i), "Softmax")) fuse(static_cast<NodeId>(i));
    if (!places_.empty()) remove_dead(graph_);
    return std::move(places_);
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }
  const std::optional<Shape>& shape(ValueId id) const { return type(id).shape; }
  bool is(NodeId id, std::string_view op) const {
    return id != kNoNode && graph_.node(id).domain.empty() && graph_.node(id).op == op;
  }

  /// Over the last of four axes.
  bool is_row_softmax(const Node& node) const {
    const auto& scores = shape(node.inputs[0]);
    if (!scores || scores->size() != 4) return false;
    const int64_t axis = attribute_or<int64_t>(node.attributes, "axis", node.version < 13 ? 1 : -1);
    return axis == 3 || axis == -1;
  }

  /// `other` broadcasts to the scores without changing their shape, provably.
  bool broadcasts_into(ValueId other, const Shape& scores) const {
    const auto& own = shape(other);
    if (!own || own->size() > scores.size()) return false;
    for (size_t i = 0; i < own->size(); ++i) {
      const Dim& dim = (*own)[own->size() - 1 - i];
      if (!(dim == Dim(1)) && !(dim == scores[scores.size() - 1 - i])) return false;
    }
    return true;
  }

  /// Walks from the softmax to the product: first what masks, then what scales. Nothing for anything else on the way.
  std::optional<Scores> find_scores(ValueId value) const {
    const Shape full = *shape(value);
    Scores scores;
    bool scaled = false;
    for (int steps = 0; steps < 6; ++steps) {
      const NodeId producer = graph_.value(value).producer;
      if (producer == kNoNode || uses_.only_reader(value) == kNoNode) return std::nullopt;
      const Node& node = graph_.node(producer);
      if (is(producer, "MatMul")) {
        scores.product = producer;
        return scores;
      }
      if (const auto factor = as_scaling(facts_, node)) {
        scores.scale *= factor->factor;
        scaled = true;
        value = factor->input;
      } else if (!scaled && is(producer, "Add") && scores.mask == kNoValue && !scores.fill) {
        const size_t at = is_scores(node.inputs[0], node.inputs[1], full) ? 0 : 1;
        if (!is_scores(node.inputs[at], node.inputs[1 - at], full)) return std::nullopt;
        scores.mask = node.inputs[1 - at];
        value = node.inputs[at];
      } else if (!scaled && is(producer, "Where") && !scores.fill) {
        if (!hide(node, full, scores)) return std::nullopt;
        value = node.inputs[scores.true_is_visible ? 1 : 2];
      } else {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// Of two values that are added, the one that comes from the product and the one that masks it.
  bool is_scores(ValueId value, ValueId mask, const Shape& full) const {
    const auto& own = shape(value);
    return value != mask && own && *own == full && uses_.count(value) == 1 && graph_.value(value).producer != kNoNode &&
           type(mask).dtype == type(value).dtype && broadcasts_into(mask, full);
  }

  /// Where(visible, scores, number) or Where(hidden, number, scores).
  bool hide(const Node& node, const Shape& full, Scores& scores) const {
    const ValueId condition = node.inputs[0];
    const auto below = known_number(facts_, node.inputs[2]), above = known_number(facts_, node.inputs[1]);
    if (below.has_value() == above.has_value() || !broadcasts_into(condition, full)) return false;
    const auto& inner = shape(node.inputs[below ? 1 : 2]);
    if (!inner || *inner != full) return false;
    scores.fill = static_cast<float>(below ? *below : *above);
    scores.true_is_visible = below.has_value();
    scores.causal = is_causal_mask(graph_, facts_, condition, full,
                                   scores.true_is_visible ? Triangle::true_below : Triangle::true_above);
    if (scores.causal) return true;
    if (scores.mask != kNoValue) return false;  // bools beside numbers
    scores.mask = condition;
    return true;
  }

  void fuse(NodeId softmax) {
    const Node& soft = graph_.node(softmax);
    if (!is_row_softmax(soft)) return;
    const DType dtype = type(soft.inputs[0]).dtype;
    if (dtype != DType::f32 && dtype != DType::bf16) return;
    const NodeId weigh = uses_.only_reader(soft.outputs[0]);
    if (!is(weigh, "MatMul") || graph_.node(weigh).inputs[0] != soft.outputs[0]) return;
    const auto scores = find_scores(soft.inputs[0]);
    if (!scores) return;
    const Node &product = graph_.node(scores->product), &weighing = graph_.node(weigh);
    const auto q = find_operand(graph_, facts_, product.inputs[0], {}, Scaling::any);
    const auto k = find_operand(graph_, facts_, product.inputs[1], {0, 1, 3, 2}, Scaling::any);
    const auto v = find_operand(graph_, facts_, weighing.inputs[1], {}, Scaling::none);
    if (!q || !k || !v || !same_heads(product.inputs[0], product.inputs[1], weighing.inputs[1])) return;

    if (left_alone_.count(product.name) > 0) return;

    Place place{.anchor = part_of(product), .parts = {}, .is_chain = false};
    Node fused;
    fused.name = product.name;
    fused.domain = "attune";
    fused.op = "FusedAttention";
    fused.version = 1;
    fused.inputs = {q->source, k->source, v->source};
    if (scores->mask != kNoValue) fused.inputs.push_back(scores->mask);
    const auto [last, order] = result_of(weigh);
    fused.outputs = graph_.node(last).outputs;
    fused.attributes =
        attributes_of(*scores, {*q, *k, *v}, order, *shape(product.inputs[0]), *shape(weighing.inputs[1]));
    place.parts = nodes_between(graph_, fused.inputs, fused.outputs[0]);
    std::erase(place.parts, place.anchor);
    places_.push_back(std::move(place));
    graph_.node(last) = std::move(fused);  // where the last part stood: all operands are there by then
  }

  /// Products broadcast; the operator does not.
  bool same_heads(ValueId q, ValueId k, ValueId v) const {
    const auto &a = shape(q), &b = shape(k), &c = shape(v);
    if (!a || !b || !c || a->size() != 4 || b->size() != 4 || c->size() != 4) return false;
    return (*a)[0] == (*b)[0] && (*a)[0] == (*c)[0] && (*a)[1] == (*b)[1] && (*a)[1] == (*c)[1];
  }

  /// The node whose result the operator gives: the second product, or the transpose after it.
  std::pair<NodeId, HeadOrder> result_of(NodeId weigh) const {
    const NodeId next = uses_.only_reader(graph_.node(weigh).outputs[0]);
    if (is(next, "Transpose")) {
      const auto perm = attribute_or<std::vector<int64_t>>(graph_.node(next).attributes, "perm", {});
      if (perm == std::vector<int64_t>{0, 2, 1, 3}) return {next, HeadOrder::batch_rows_heads};
      if (perm == std::vector<int64_t>{2, 0, 1, 3}) return {next, HeadOrder::rows_batch_heads};
    }
    return {weigh, HeadOrder::batch_heads_rows};
  }

  static Attributes attributes_of(const Scores& scores, const std::vector<AttentionOperand>& operands, HeadOrder result,
                                  const Shape& q, const Shape& v) {
    Attributes attributes;
    attributes["heads"] = q[1].value();
    attributes["head_size"] = q[3].value();
    if (!(v[3] == q[3])) attributes["value_size"] = v[3].value();
    std::vector<std::string> layouts;
    std::vector<int64_t> columns;
    double scale = scores.scale;
    for (const AttentionOperand& operand : operands) {
      layouts.emplace_back(head_order_name(operand.order));
      columns.push_back(operand.column);
      scale *= operand.scale;
    }
    layouts.emplace_back(head_order_name(result));
    attributes["scale"] = static_cast<float>(scale);
    attributes["layouts"] = std::move(layouts);
    if (columns != std::vector<int64_t>{0, 0, 0}) attributes["columns"] = std::move(columns);
    if (scores.fill) attributes["fill"] = *scores.fill;
    if (scores.causal) attributes["causal"] = int64_t{1};
    if (scores.fill && !scores.causal && !scores.true_is_visible) attributes["true_is_visible"] = int64_t{0};
    return attributes;
  }

  Graph& graph_;
  const LeftAlone& left_alone_;
  GraphFacts facts_;
  Uses uses_;
  Places places_;
};

}  // namespace

Places fuse_attention(Graph& graph, const LeftAlone& left_alone) {
  try {
    return Fuser(graph, left_alone).run();
  } catch (const UserError&) {
    return {};  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
