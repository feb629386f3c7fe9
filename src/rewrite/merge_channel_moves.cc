#include "rewrite/merge_channel_moves.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <map>

namespace attune::rewrite {
namespace {

class Merger {
 public:
  Merger(Graph& graph, const LeftAlone& left_alone)
      : graph_(graph),
        left_alone_(left_alone),
        facts_(infer_graph(graph)),
        uses_(graph),
        removed_(graph.nodes().size(), false) {
    for (size_t i = 0; i < graph.nodes().size(); ++i)
      for (const ValueId id : graph.nodes()[i].outputs)
        if (id != kNoValue) makers_[id] = static_cast<NodeId>(i);
  }

  Places run() {
    Places places;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (!is_shuffle(graph_.node(id)) || left_alone_.count(graph_.node(id).name) > 0) continue;
      Place place{.anchor = part_of(graph_.node(id)), .parts = {}, .is_chain = false};
      take_concat(id, place);
      take_split(id, place);
      if (!place.parts.empty()) places.push_back(std::move(place));
    }
    if (!places.empty()) erase_nodes(graph_, removed_);
    return places;
  }

 private:
  static bool is_shuffle(const Node& node) { return node.domain == "attune" && node.op == "ChannelShuffle"; }

  const std::optional<Shape>& shape(ValueId id) const { return facts_.types[static_cast<size_t>(id)].shape; }

  bool is_along_channels(const Node& node, std::string_view op) const {
    if (!node.domain.empty() || node.op != op) return false;
    const auto& dims = shape(node.inputs[0]);
    if (!dims) return false;
    const int64_t axis = attribute_or<int64_t>(node.attributes, "axis", 0);
    return (axis < 0 ? axis + static_cast<int64_t>(dims->size()) : axis) == 1;
  }

  void take_concat(NodeId shuffle, Place& place) {
    const ValueId joined = graph_.node(shuffle).inputs[0];
    const auto maker = makers_.find(joined);
    if (maker == makers_.end() || uses_.count(joined) != 1) return;
    const Node& concat = graph_.node(maker->second);
    if (!is_along_channels(concat, "Concat")) return;
    graph_.node(shuffle).inputs = concat.inputs;
    removed_[static_cast<size_t>(maker->second)] = true;
    place.parts.push_back(part_of(concat));
  }

  void take_split(NodeId shuffle, Place& place) {
    const NodeId reader = uses_.only_reader(graph_.node(shuffle).outputs[0]);
    if (reader == kNoNode || !is_along_channels(graph_.node(reader), "Split")) return;
    std::vector<int64_t> parts;
    for (const ValueId id : graph_.node(reader).outputs) {
      if (id == kNoValue || !shape(id) || !(*shape(id))[1].is_known()) return;
      parts.push_back((*shape(id))[1].value());
    }
    // The merged node stands where the shuffle stood, so before all who read the parts.
    graph_.node(shuffle).outputs = graph_.node(reader).outputs;
    graph_.node(shuffle).attributes["split"] = std::move(parts);
    removed_[static_cast<size_t>(reader)] = true;
    place.parts.push_back(part_of(graph_.node(reader)));
  }

  Graph& graph_;
  const LeftAlone& left_alone_;
  GraphFacts facts_;
  Uses uses_;
  std::vector<bool> removed_;
  std::map<ValueId, NodeId> makers_;
};

}  // namespace

Places merge_channel_moves(Graph& graph, const LeftAlone& left_alone) {
  try {
    return Merger(graph, left_alone).run();
  } catch (const UserError&) {
    return {};  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
