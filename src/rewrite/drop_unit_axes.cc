#include "rewrite/drop_unit_axes.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/append_node.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

using Ints = std::vector<int64_t>;

constexpr int kSqueezeOpset = 13, kTransposeOpset = 13;
constexpr size_t kFirstSpatial = 2;

template <class List> List without(List list, size_t i) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
  return list;
}

class Dropper {
 public:
  explicit Dropper(Graph& graph) : graph_(graph), facts_(infer_graph(graph)), uses_(graph) {}

  int run() {
    const std::vector<Node> nodes = graph_.nodes();
    std::vector<bool> done(nodes.size(), false);
    int changes = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done[i]) continue;
      if (const auto axis = unit_axis(nodes[i])) {
        const NodeId reader = uses_.only_reader(nodes[i].outputs[0]);
        Node narrow = narrowed(nodes[i], *axis);
        narrow.outputs = nodes[static_cast<size_t>(reader)].outputs;
        done[static_cast<size_t>(reader)] = true;
        nodes_.push_back(std::move(narrow));
        ++changes;
      } else {
        nodes_.push_back(nodes[i]);
      }
    }
    if (changes == 0) return 0;
    graph_.set_nodes(std::move(nodes_));
    remove_dead(graph_);
    return changes;
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }

  const Node* maker(ValueId id) const {
    return graph_.value(id).producer == kNoNode ? nullptr : &graph_.node(graph_.value(id).producer);
  }

  /// The axis of one element that a convolution passes over with a window of one, and that its only reader drops.
  std::optional<size_t> unit_axis(const Node& node) const {
    if (!node.domain.empty() || node.op != "Conv") return std::nullopt;
    const auto& shape = type(node.inputs[0]).shape;
    const auto& result = type(node.outputs[0]).shape;
    const Tensor* weights = constant_input(graph_, node, 1);
    const NodeId reader = uses_.only_reader(node.outputs[0]);
    if (!shape || !result || weights == nullptr || reader == kNoNode || shape->size() <= kFirstSpatial + 1)
      return std::nullopt;
    const Node& next = graph_.node(reader);
    if (!renames_dims(next) || next.inputs[0] != node.outputs[0] || !type(next.outputs[0]).shape) return std::nullopt;
    if (attribute_or<std::string>(node.attributes, "auto_pad", "NOTSET") != "NOTSET") return std::nullopt;
    const size_t spatial = shape->size() - kFirstSpatial;
    const Ints pads = attribute_or<Ints>(node.attributes, "pads", Ints(2 * spatial, 0));
    if (pads.size() != 2 * spatial || weights->rank() != std::ssize(*shape)) return std::nullopt;
    for (size_t i = 0; i < spatial; ++i) {
      const size_t axis = i + kFirstSpatial;
      if ((*shape)[axis] == Dim(1) && weights->dim(static_cast<int64_t>(axis)) == 1 && pads[i] == 0 &&
          pads[i + spatial] == 0 && *type(next.outputs[0]).shape == without(*result, axis))
        return axis;
    }
    return std::nullopt;
  }

  Node narrowed(Node conv, size_t axis) {
    const size_t i = axis - kFirstSpatial, spatial = type(conv.inputs[0]).shape->size() - kFirstSpatial;
    conv.inputs[0] = squeezed(conv.inputs[0], axis, conv.name);
    const Tensor& weights = graph_.value(conv.inputs[1]).constant;
    conv.inputs[1] = graph_.add_constant(graph_.value(conv.inputs[1]).name + "_squeezed",
                                         weights.reshaped(without(weights.dims(), axis)));
    for (const char* name : {"kernel_shape", "strides", "dilations"})
      if (conv.attributes.count(name) > 0)
        conv.attributes[name] = without(attribute_or<Ints>(conv.attributes, name, Ints(spatial, 1)), i);
    if (conv.attributes.count("pads") > 0)
      conv.attributes["pads"] = without(without(attribute_or<Ints>(conv.attributes, "pads", {}), i + spatial), i);
    return conv;
  }

  /// A value without one of its axes, whose size is 1: from before the node that put it there, if there is one.
  ValueId squeezed(ValueId id, size_t axis, const std::string& reader) {
    const Node* node = maker(id);
    if (node != nullptr && renames_dims(*node) && type(node->inputs[0]).shape &&
        *type(node->inputs[0]).shape == without(*type(id).shape, axis))
      return node->inputs[0];
    const bool transposes = node != nullptr && node->domain.empty() && node->op == "Transpose";
    if (transposes && uses_.only_reader(id) != kNoNode && type(node->inputs[0]).shape) {
      Ints order = attribute_or<Ints>(node->attributes, "perm", {});
      if (order.size() == type(id).shape->size()) {
        const int64_t from = order[axis];
        order = without(order, axis);
        for (int64_t& at : order) at -= at > from ? 1 : 0;
        const ValueId source = squeezed(node->inputs[0], static_cast<size_t>(from), node->name);
        return append_node(graph_, nodes_,
                           {node->name + "_squeezed", "Transpose", kTransposeOpset, {source}, {{"perm", order}}});
      }
    }
    const Ints axes = {static_cast<int64_t>(axis)};
    const ValueId which = graph_.add_constant(reader + "_axes", Tensor::vector(axes));
    return append_node(graph_, nodes_, {reader + "_squeeze", "Squeeze", kSqueezeOpset, {id, which}});
  }

  Graph& graph_;
  GraphFacts facts_;
  Uses uses_;
  std::vector<Node> nodes_;
};

}  // namespace

int drop_unit_axes(Graph& graph) {
  try {
    return Dropper(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
