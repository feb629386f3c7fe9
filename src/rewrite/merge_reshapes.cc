#include "rewrite/merge_reshapes.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/assumed_shapes.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

constexpr int kReshapeOpset = 5, kIdentityOpset = 1;  // the oldest serve: what is new are types

class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph), facts_(infer_graph(graph)), assumed_(assumed_shapes(graph, facts_)) {}

  int run() {
    int changes = 0;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) changes += merge(static_cast<NodeId>(i));
    if (changes > 0) remove_dead(graph_);
    return changes;
  }

 private:
  const std::optional<Shape>& shape(ValueId id) const { return facts_.types[static_cast<size_t>(id)].shape; }

  /// Where the elements come from, through all that renames dims.
  ValueId source(ValueId id) const {
    while (graph_.value(id).producer != kNoNode && renames_dims(graph_.node(graph_.value(id).producer)))
      id = graph_.node(graph_.value(id).producer).inputs[0];
    return id;
  }

  /// The shape input that makes `to` of `from`: at most one dim may be open, besides those that stay where they are.
  static std::optional<std::vector<int64_t>> target(const Shape& from, const Shape& to) {
    std::vector<int64_t> result;
    bool open = false, empty = false, copied = false;
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i].is_known()) {
        empty |= to[i].value() == 0;
        result.push_back(to[i].value());
      } else if (i < from.size() && to[i] == from[i]) {
        copied = true;
        result.push_back(0);  // as it is in the input
      } else if (!open) {
        open = true;
        result.push_back(-1);
      } else {
        return std::nullopt;
      }
    }
    // A 0 means something else to Reshape, and beside one that stands for an empty dim nothing can be left open.
    if (empty || (open && copied)) return std::nullopt;
    return result;
  }

  int merge(NodeId id) {
    const Node& node = graph_.node(id);
    if (!renames_dims(node) || node.op == "Identity") return 0;
    const ValueId input = node.inputs[0], from = source(input), output = node.outputs[0];
    if (!shape(from) || !shape(output) || assumed_[static_cast<size_t>(output)]) return 0;
    const bool is_output = std::find(graph_.outputs.begin(), graph_.outputs.end(), output) != graph_.outputs.end();
    if (*shape(from) == *shape(output)) {
      // An output keeps its name, so something must stay that gives it that name.
      replace(id, from, {});
      if (!is_output) redirect(graph_, output, from);
      return 1;
    }
    if (from == input) return 0;
    const auto to = target(*shape(from), *shape(output));
    if (!to) return 0;
    replace(id, from, to);
    return 1;
  }

  void replace(NodeId id, ValueId from, const std::optional<std::vector<int64_t>>& to) {
    Node merged;
    merged.name = graph_.node(id).name;
    merged.op = to ? "Reshape" : "Identity";
    merged.version = to ? kReshapeOpset : kIdentityOpset;
    merged.inputs = {from};
    if (to) merged.inputs.push_back(graph_.add_constant(merged.name + "_shape", Tensor::vector(*to)));
    merged.outputs = graph_.node(id).outputs;
    graph_.node(id) = std::move(merged);
  }

  Graph& graph_;
  GraphFacts facts_;
  std::vector<bool> assumed_;
};

}  // namespace

int merge_reshapes(Graph& graph) {
  try {
    return Merger(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
