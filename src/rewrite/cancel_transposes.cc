#include "rewrite/cancel_transposes.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "ops/registry.h"
#include "ops/run_node.h"
#include "rewrite/assumed_shapes.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace attune::rewrite {
namespace {

using Order = std::vector<int64_t>;

constexpr int kTransposeOpset = 13, kReshapeOpset = 5, kIdentityOpset = 1;
constexpr int kSoftmaxOfOneAxis = 13;  // older ones take all axes from one on together

bool is_transpose(const Node& node) { return node.domain.empty() && node.op == "Transpose"; }

/// Both after each other: axis i of the result is axis first[then[i]] of the source.
Order composed(const Order& first, const Order& then) {
  Order result;
  for (const int64_t axis : then) result.push_back(first[static_cast<size_t>(axis)]);
  return result;
}

bool leaves_alone(const Order& order) { return std::is_sorted(order.begin(), order.end()); }

class Canceller {
 public:
  explicit Canceller(Graph& graph)
      : graph_(graph), facts_(infer_graph(graph)), assumed_(assumed_shapes(graph, facts_)), uses_(graph) {}

  int run() {
    int changes = 0;
    while (change_one()) {
      ++changes;
      remove_dead(graph_);
      uses_ = Uses(graph_);
    }
    return changes;
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }
  bool is_known(ValueId id) const { return static_cast<size_t>(id) < facts_.types.size(); }
  std::optional<size_t> rank(ValueId id) const {
    if (!is_known(id) || !type(id).shape) return std::nullopt;
    return type(id).shape->size();
  }

  std::optional<Order> order_of(const Node& node) const {
    const auto size = rank(node.inputs[0]);
    if (!size) return std::nullopt;
    Order reversed(*size);
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    return attribute_or<Order>(node.attributes, "perm", reversed);
  }

  bool change_one() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (!is_transpose(graph_.node(id))) continue;
      const auto order = order_of(graph_.node(id));
      if (!order) continue;
      const ValueId input = graph_.node(id).inputs[0];
      if (leaves_alone(*order)) {
        finish(id, input, *order);
        return true;
      }
      const auto meets = first_order(input, order->size());
      if (meets && can_lift(input, *meets)) {
        // What stands between loses its transposes, and this one does what is left to do.
        const ValueId lifted = lift(input, *meets);
        finish(id, lifted, composed(*meets, *order));
        return true;
      }
      if (rename_instead(id, *order)) return true;
    }
    return false;
  }

  /// A transpose that only moves axes of one element renames dims.
  bool rename_instead(NodeId id, const Order& order) {
    const auto dims = concrete(type(graph_.node(id).inputs[0]).shape);
    if (!dims || assumed_[static_cast<size_t>(graph_.node(id).inputs[0])]) return false;
    Order moved, result;
    for (const int64_t axis : order) {
      result.push_back((*dims)[static_cast<size_t>(axis)]);
      if (result.back() != 1) moved.push_back(axis);
      if (result.back() == 0) return false;  // a 0 means something else to Reshape
    }
    if (!leaves_alone(moved)) return false;
    Node& node = graph_.node(id);
    node.op = "Reshape";
    node.version = kReshapeOpset;
    node.attributes.clear();
    node.inputs.push_back(graph_.add_constant(node.name + "_shape", Tensor::vector(result)));
    facts_.types.resize(graph_.values().size());
    return true;
  }

  const Node* maker(ValueId id) const {
    return graph_.value(id).producer == kNoNode ? nullptr : &graph_.node(graph_.value(id).producer);
  }

  /// Inputs that are not constant decide what a node is transposed by.
  std::vector<ValueId> data_inputs(const Node& node) const {
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs)
      if (id != kNoValue && !graph_.value(id).is_constant()) inputs.push_back(id);
    return inputs;
  }

  /// Elementwise, or along axes that can be given other numbers; one output that nothing else reads.
  bool lets_through(ValueId id) const {
    const Node* node = maker(id);
    if (node == nullptr || node->outputs.size() != 1 || uses_.only_reader(id) == kNoNode || has_subgraph(*node))
      return false;
    if (!node->domain.empty()) return false;
    if (node->op == "Concat") return true;
    if (node->op == "Softmax" || node->op == "LogSoftmax") return node->version >= kSoftmaxOfOneAxis;
    const OpDef* op = find_op(node->domain, node->op, node->version);
    return op != nullptr && op->layout_class == LayoutClass::irrelevant && !is_random(*node) && !has_axis(*node);
  }
  static bool has_axis(const Node& node) { return node.attributes.count("axis") + node.attributes.count("axes") > 0; }

  /// The order of the nearest Transpose above a value.
  std::optional<Order> first_order(ValueId id, size_t dims) const {
    const Node* node = maker(id);
    if (node == nullptr || rank(id) != dims) return std::nullopt;
    if (is_transpose(*node)) return order_of(*node);
    if (!lets_through(id)) return std::nullopt;
    for (const ValueId input : data_inputs(*node))
      if (auto found = first_order(input, dims)) return found;
    return std::nullopt;
  }

  /// Whether a value can be had as it was before a transpose by `order`.
  bool can_lift(ValueId id, const Order& order) const {
    const Node* node = maker(id);
    if (node == nullptr || rank(id) != order.size()) return false;
    if (is_transpose(*node)) return order_of(*node) == order;
    if (!lets_through(id)) return false;
    for (const ValueId input : node->inputs) {
      if (input == kNoValue) continue;
      const bool constant = graph_.value(input).is_constant();
      const auto size = rank(input);
      if (constant ? !size || *size > order.size() : !can_lift(input, order)) return false;
    }
    return true;
  }

  ValueId lift(ValueId id, const Order& order) {
    if (graph_.value(id).is_constant()) return lift_constant(id, order);
    const NodeId at = graph_.value(id).producer;
    if (is_transpose(graph_.node(at))) return graph_.node(at).inputs[0];
    std::vector<ValueId> inputs = graph_.node(at).inputs;
    for (ValueId& input : inputs)
      if (input != kNoValue) input = lift(input, order);
    Node& node = graph_.node(at);
    node.inputs = std::move(inputs);
    if (const auto axis = node.attributes.find("axis"); axis != node.attributes.end() || is_along_axis(node)) {
      const int64_t given = attribute_or<int64_t>(node.attributes, "axis", -1);
      node.attributes["axis"] = order[static_cast<size_t>(given < 0 ? given + std::ssize(order) : given)];
    }
    // The value keeps its name and has other dims from now on.
    if (type(id).shape) {
      Shape before(order.size());
      for (size_t i = 0; i < order.size(); ++i) before[static_cast<size_t>(order[i])] = (*type(id).shape)[i];
      facts_.types[static_cast<size_t>(id)].shape = before;
    }
    if (graph_.value(id).shape) graph_.value(id).shape = type(id).shape;
    return id;
  }
  static bool is_along_axis(const Node& node) {
    return node.op == "Concat" || node.op == "Softmax" || node.op == "LogSoftmax";
  }

  /// A constant as it has to be where no transpose comes before it.
  ValueId lift_constant(ValueId id, const Order& order) {
    const Tensor constant = graph_.value(id).constant.held();
    if (constant.count() == 1 && constant.rank() <= 1) return id;
    Dims dims(order.size() - static_cast<size_t>(constant.rank()), 1);
    dims.insert(dims.end(), constant.dims().begin(), constant.dims().end());
    Order inverse(order.size());
    for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    const Tensor wide = constant.reshaped(dims);
    const Tensor* input = &wide;
    const Tensor moved = run_node(transpose("lift", inverse), {&input, 1})[0];
    const ValueId lifted = graph_.add_constant(graph_.value(id).name + "_transposed", moved);
    facts_.types.resize(graph_.values().size());
    facts_.types[static_cast<size_t>(lifted)] = {moved.dtype(), to_shape(moved.dims())};
    return lifted;
  }

  static Node transpose(std::string name, Order order) {
    Node node;
    node.name = std::move(name);
    node.op = "Transpose";
    node.version = kTransposeOpset;
    node.inputs = {0};  // to be set, as the output is
    node.outputs = {0};
    node.attributes["perm"] = std::move(order);
    return node;
  }

  /// Puts the transpose by `order` in the place of an older one, or nothing where it would leave everything as it is.
  void finish(NodeId id, ValueId from, const Order& order) {
    const ValueId output = graph_.node(id).outputs[0];
    Node last = transpose(graph_.node(id).name, order);
    const bool is_output = std::find(graph_.outputs.begin(), graph_.outputs.end(), output) != graph_.outputs.end();
    if (leaves_alone(order)) {
      last.op = "Identity";
      last.version = kIdentityOpset;
      last.attributes.clear();
      if (!is_output) redirect(graph_, output, from);
    }
    last.inputs = {from};
    last.outputs = {output};
    graph_.node(id) = std::move(last);
  }

  Graph& graph_;
  GraphFacts facts_;
  std::vector<bool> assumed_;
  Uses uses_;
};

}  // namespace

int cancel_transposes(Graph& graph) {
  try {
    return Canceller(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
