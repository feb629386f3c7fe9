#include "rewrite/fuse_shuffles.h"

#include "base/error.h"
#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "ops/shuffled_conv.h"
#include "rewrite/uses.h"

#include <algorithm>
#include <map>

namespace attune::rewrite {
namespace {

constexpr int64_t kMapRank = 4;
constexpr size_t kMostParts = 2;

class Fuser {
 public:
  Fuser(Graph& graph, const LeftAlone& left_alone)
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
      Node& shuffle = graph_.node(static_cast<NodeId>(i));
      if (!is_served(shuffle) || left_alone_.count(shuffle.name) > 0) continue;
      const NodeId maker = convolution_before(shuffle);
      if (maker == kNoNode) continue;
      const Node& conv = graph_.node(maker);
      places.push_back({.anchor = part_of(conv), .parts = {part_of(shuffle)}});
      // It stands where the shuffle stood, so behind whoever makes the other map.
      shuffle = shuffled_conv(conv, shuffle);
      removed_[static_cast<size_t>(maker)] = true;
    }
    if (!places.empty()) erase_nodes(graph_, removed_);
    return places;
  }

 private:
  static bool is_served(const Node& node) {
    return node.domain == "attune" && node.op == "ChannelShuffle" && node.inputs.size() == 2 &&
           node.inputs[0] != node.inputs[1] && attribute_or<int64_t>(node.attributes, "groups", 1) == 2 &&
           node.outputs.size() <= kMostParts && std::ranges::find(node.outputs, kNoValue) == node.outputs.end();
  }

  /// 1x1 in one group, with constant weights; read by nobody else; as many channels as the other map. Of two such
  /// convolutions the later one.
  NodeId convolution_before(const Node& shuffle) const {
    NodeId found = kNoNode;
    for (size_t i = 0; i < shuffle.inputs.size(); ++i) {
      const auto maker = makers_.find(shuffle.inputs[i]);
      if (maker == makers_.end() || removed_[static_cast<size_t>(maker->second)] || uses_.count(shuffle.inputs[i]) != 1)
        continue;
      const auto& beside = facts_.types[static_cast<size_t>(shuffle.inputs[1 - i])].shape;
      const Tensor* weights = pointwise_weights(graph_.node(maker->second));
      if (weights == nullptr || !beside || beside->size() != kMapRank || !(*beside)[1].is_known() ||
          (*beside)[1].value() != weights->dim(0))
        continue;
      if (found == kNoNode || maker->second > found) found = maker->second;
    }
    return found;
  }

  const Tensor* pointwise_weights(const Node& node) const {
    const bool conv = (node.domain.empty() && node.op == "Conv") || (node.domain == "attune" && node.op == "FusedConv");
    const Tensor* weights = conv ? constant_input(graph_, node, 1) : nullptr;
    if (weights == nullptr || weights->rank() != kMapRank || weights->dim(2) != 1 || weights->dim(3) != 1)
      return nullptr;
    return attribute_or<int64_t>(node.attributes, "group", 1) == 1 ? weights : nullptr;
  }

  Graph& graph_;
  const LeftAlone& left_alone_;
  GraphFacts facts_;
  Uses uses_;
  std::vector<bool> removed_;
  std::map<ValueId, NodeId> makers_;
};

}  // namespace

Places fuse_shuffles(Graph& graph, const LeftAlone& left_alone) {
  try {
    return Fuser(graph, left_alone).run();
  } catch (const UserError&) {
    return {};  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
