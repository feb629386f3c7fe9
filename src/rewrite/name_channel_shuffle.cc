#include "rewrite/name_channel_shuffle.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

namespace attune::rewrite {
namespace {

class Namer {
 public:
  explicit Namer(Graph& graph)
      : graph_(graph), facts_(infer_graph(graph)), uses_(graph), removed_(graph.nodes().size(), false) {}

  int run() {
    int changes = 0;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) changes += rename(static_cast<NodeId>(i));
    if (changes > 0) erase_nodes(graph_, removed_);
    return changes;
  }

 private:
  const std::optional<Shape>& shape(ValueId id) const { return facts_.types[static_cast<size_t>(id)].shape; }

  bool is(NodeId id, std::string_view op) const {
    return id != kNoNode && graph_.node(id).domain.empty() && graph_.node(id).op == op;
  }
  NodeId next(NodeId id) const { return uses_.only_reader(graph_.node(id).outputs[0]); }

  /// [n, c, h, w] as [n, groups, c / groups, h, w]; nothing for any other reshape.
  std::optional<int64_t> groups_of(const Shape& maps, const Shape& grouped) const {
    if (maps.size() != 4 || grouped.size() != 5 || !grouped[1].is_known() || !grouped[2].is_known()) return {};
    const bool same = maps[0] == grouped[0] && maps[2] == grouped[3] && maps[3] == grouped[4] &&
                      maps[1] == Dim(grouped[1].value() * grouped[2].value());
    return same ? std::optional(grouped[1].value()) : std::nullopt;
  }

  int rename(NodeId first) {
    if (!is(first, "Reshape")) return 0;
    const NodeId middle = next(first), last = is(middle, "Transpose") ? next(middle) : kNoNode;
    if (!is(last, "Reshape") || graph_.node(last).inputs[0] != graph_.node(middle).outputs[0]) return 0;
    const auto perm = graph_.node(middle).attributes.find("perm");
    const auto* order =
        perm == graph_.node(middle).attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&perm->second);
    if (order == nullptr || *order != std::vector<int64_t>{0, 2, 1, 3, 4}) return 0;
    const ValueId input = graph_.node(first).inputs[0], output = graph_.node(last).outputs[0];
    const auto &maps = shape(input), &grouped = shape(graph_.node(first).outputs[0]), &result = shape(output);
    if (!maps || !grouped || !result || *maps != *result) return 0;
    if (bit_width(facts_.types[static_cast<size_t>(input)].dtype) < 8) return 0;  // planes are moved by whole bytes
    const auto groups = groups_of(*maps, *grouped);
    if (!groups) return 0;
    Node shuffle;
    shuffle.name = graph_.node(middle).name;
    shuffle.domain = "attune";
    shuffle.op = "ChannelShuffle";
    shuffle.version = 1;
    shuffle.inputs = {input};
    shuffle.outputs = {output};
    shuffle.attributes["groups"] = *groups;
    graph_.node(last) = std::move(shuffle);
    removed_[static_cast<size_t>(first)] = removed_[static_cast<size_t>(middle)] = true;
    return 1;
  }

  Graph& graph_;
  GraphFacts facts_;
  Uses uses_;
  std::vector<bool> removed_;
};

}  // namespace

int name_channel_shuffle(Graph& graph) {
  try {
    return Namer(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
