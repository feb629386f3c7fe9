#include "rewrite/move_channel_runs.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/append_node.h"
#include "rewrite/as_activation.h"
#include "rewrite/assumed_shapes.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

using Ints = std::vector<int64_t>;

constexpr int kTransposeOpset = 13, kReshapeOpset = 5;
constexpr size_t kMapRank = 4;

bool is_of_onnx(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

class Mover {
 public:
  explicit Mover(Graph& graph)
      : graph_(graph), facts_(infer_graph(graph)), assumed_(assumed_shapes(graph, facts_)), uses_(graph) {}

  int run() {
    const std::vector<Node> nodes = graph_.nodes();
    int changes = 0;
    for (const Node& node : nodes) {
      const auto parts = parts_of(node);
      if (parts) {
        move_runs(node, *parts);
        ++changes;
      } else {
        nodes_.push_back(node);
      }
    }
    if (changes > 0) {
      graph_.set_nodes(std::move(nodes_));
      remove_dead(graph_);  // the reshapes that split planes
    }
    return changes;
  }

 private:
  const std::optional<Shape>& shape(ValueId id) const { return facts_.types[static_cast<size_t>(id)].shape; }
  const Node* maker(ValueId id) const {
    return graph_.value(id).producer == kNoNode ? nullptr : &graph_.node(graph_.value(id).producer);
  }

  /// A map that a convolution gives, which lies with its channels last, or in blocks of them, where that pays.
  bool is_of_convolution(ValueId id) const {
    const Node* node = maker(id);
    if (node != nullptr && as_activation(graph_, *node)) node = maker(node->inputs[0]);
    return node != nullptr && is_of_onnx(*node, "Conv");
  }

  /// For a Transpose that ends with the last part of split channels: the sizes of the parts.
  std::optional<Ints> parts_of(const Node& node) const {
    if (!is_of_onnx(node, "Transpose") || uses_.only_reader(node.inputs[0]) == kNoNode) return std::nullopt;
    const Node* split = maker(node.inputs[0]);
    if (split == nullptr || !is_of_onnx(*split, "Reshape") || !is_of_convolution(split->inputs[0])) return std::nullopt;
    const auto &map = shape(split->inputs[0]), &result = shape(split->outputs[0]);
    if (!map || !result || map->size() != kMapRank || result->size() <= kMapRank) return std::nullopt;
    if (assumed_[static_cast<size_t>(split->outputs[0])]) return std::nullopt;
    const size_t rank = result->size(), parts = rank - kMapRank + 1;
    const bool keeps =
        (*result)[0] == (*map)[0] && (*result)[rank - 2] == (*map)[2] && (*result)[rank - 1] == (*map)[3];
    const auto perm = attribute_or<Ints>(node.attributes, "perm", {});
    if (!keeps || perm.size() != rank || perm.back() != static_cast<int64_t>(parts)) return std::nullopt;
    Ints sizes;
    for (size_t i = 1; i <= parts; ++i) {
      if (!(*result)[i].is_known() || (*result)[i].value() < 1) return std::nullopt;
      sizes.push_back((*result)[i].value());
    }
    return sizes;
  }

  void move_runs(const Node& node, const Ints& sizes) {
    const Node& split = *maker(node.inputs[0]);
    const ValueId last = append_node(graph_, nodes_,
                                     {.name = split.name + "_channels_last",
                                      .op = "Transpose",
                                      .version = kTransposeOpset,
                                      .inputs = {split.inputs[0]},
                                      .attributes = {{"perm", Ints{0, 2, 3, 1}}}});
    Ints dims{0, 0, 0};  // as they are
    dims.insert(dims.end(), sizes.begin(), sizes.end());
    const ValueId runs =
        append_node(graph_, nodes_,
                    {.name = split.name + "_runs",
                     .op = "Reshape",
                     .version = kReshapeOpset,
                     .inputs = {last, graph_.add_constant(split.name + "_runs_shape", Tensor::vector(dims))}});
    // Axes were [batch, parts..., height, width] and are [batch, height, width, parts...].
    const auto parts = static_cast<int64_t>(sizes.size());
    Node moved = node;
    moved.inputs = {runs};
    Ints perm = attribute_or<Ints>(node.attributes, "perm", {});
    for (int64_t& axis : perm)
      if (axis != 0) axis = axis > parts ? axis - parts : axis + 2;
    moved.attributes["perm"] = std::move(perm);
    nodes_.push_back(std::move(moved));
  }

  Graph& graph_;
  GraphFacts facts_;
  std::vector<bool> assumed_;
  Uses uses_;
  std::vector<Node> nodes_;
};

}  // namespace

int move_channel_runs(Graph& graph) {
  try {
    return Mover(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
