#include "runtime/open_shapes.h"

#include <algorithm>
#include <map>
#include <set>

namespace attune {
namespace {

/// Every value that a node reads, those of its subgraphs included.
template <class Visit> void for_each_read(const Node& node, const Visit& visit) {
  for (const ValueId id : node.inputs)
    if (id != kNoValue) visit(id);
  for (const auto& [name, attribute] : node.attributes)
    if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
      for (const Capture& capture : (*body)->captures) visit(capture.outer);
}

class Divider {
 public:
  Divider(const Graph& graph, const GraphFacts& facts)
      : graph_(graph), facts_(facts), in_tail_(graph.nodes().size(), false), in_both_(graph.nodes().size(), false) {}

  std::optional<DividedGraph> run() {
    if (!mark()) return std::nullopt;
    pull_known();
    DividedGraph divided;
    divided.in_tail = in_tail_;
    build(divided);
    return divided;
  }

 private:
  bool is_open(ValueId id) const {
    const ValueType& type = facts_.types[static_cast<size_t>(id)];
    return type.dtype == DType::undefined || !concrete(type.shape);
  }
  bool is_known(ValueId id) const { return !facts_.constants[static_cast<size_t>(id)].empty(); }

  /// Nodes that read an open value, directly or not. False when one of the parts would be empty.
  bool mark() {
    std::set<ValueId> waiting;
    size_t count = 0;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      for_each_read(node, [&](ValueId id) { in_tail_[i] = in_tail_[i] || waiting.count(id) > 0; });
      if (in_tail_[i]) ++count;
      for (const ValueId id : node.outputs)
        if (id != kNoValue && (in_tail_[i] || is_open(id))) waiting.insert(id);
    }
    return count > 0 && count < graph_.nodes().size();
  }

  /// Values whose contents follow from shapes are computed in the tail again, where they are constants then too:
  /// handed over as tensors they would be contents that planning does not know.
  void pull_known() {
    std::set<ValueId> wanted;
    for (size_t i = graph_.nodes().size(); i-- > 0;) {
      const Node& node = graph_.nodes()[i];
      const bool made_here = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
        return id != kNoValue && wanted.count(id) > 0 && is_known(id);
      });
      in_both_[i] = !in_tail_[i] && made_here;
      if (in_tail_[i] || in_both_[i]) for_each_read(node, [&](ValueId id) { wanted.insert(id); });
    }
  }

  void build(DividedGraph& divided) {
    auto head = std::make_shared<Graph>(graph_);
    auto tail = std::make_shared<Graph>(graph_);
    std::vector<Node> head_nodes, tail_nodes;
    std::set<ValueId> made_in_tail, needed;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (!in_tail_[i]) head_nodes.push_back(node);
      if (!in_tail_[i] && !in_both_[i]) continue;
      tail_nodes.push_back(node);
      for_each_read(node, [&](ValueId id) {
        if (made_in_tail.count(id) == 0 && !graph_.value(id).is_constant()) needed.insert(id);
      });
      made_in_tail.insert(node.outputs.begin(), node.outputs.end());
    }
    std::map<ValueId, size_t> given;
    for (const ValueId id : graph_.inputs) given.emplace(id, given.size());
    for (const Capture& capture : graph_.captures) given.emplace(capture.inner, given.size());

    head->outputs.clear();
    tail->inputs.clear();
    tail->outputs.clear();
    tail->captures.clear();
    const auto from_head = [&](ValueId id) {
      if (const auto found = given.find(id); found != given.end())
        return PartSource{PartSource::Kind::given, found->second};
      const auto at = std::find(head->outputs.begin(), head->outputs.end(), id);
      const auto index = static_cast<size_t>(at - head->outputs.begin());
      if (at == head->outputs.end()) head->outputs.push_back(id);
      return PartSource{PartSource::Kind::head, index};
    };
    for (const ValueId id : needed) {
      tail->inputs.push_back(id);
      divided.tail_inputs.push_back(from_head(id));
    }
    for (const ValueId id : graph_.outputs) {
      const NodeId producer = graph_.value(id).producer;
      if (producer != kNoNode && in_tail_[static_cast<size_t>(producer)]) {
        divided.outputs.push_back({PartSource::Kind::tail, tail->outputs.size()});
        tail->outputs.push_back(id);
      } else {  // inputs and constants too: the head hands them out as an undivided graph would
        divided.outputs.push_back({PartSource::Kind::head, head->outputs.size()});
        head->outputs.push_back(id);
      }
    }
    head->set_nodes(std::move(head_nodes));
    tail->set_nodes(std::move(tail_nodes));
    divided.head = std::move(head);
    divided.tail = std::move(tail);
  }

  const Graph& graph_;
  const GraphFacts& facts_;
  std::vector<bool> in_tail_;
  std::vector<bool> in_both_;  // known contents that the tail needs as well
};

}  // namespace

std::optional<DividedGraph> divide_at_open_shapes(const Graph& graph, const GraphFacts& facts) {
  return Divider(graph, facts).run();
}

}  // namespace attune
