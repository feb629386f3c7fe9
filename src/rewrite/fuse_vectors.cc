#include "rewrite/fuse_vectors.h"

#include "rewrite/uses.h"
#include "rewrite/vector_step.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

// Larger groups gain nothing more and strain registers and compiler.
constexpr size_t kMostSteps = 24;
constexpr size_t kMostInputs = 8;
constexpr size_t kMostOutputs = 3;

bool same_shape(const Shape& a, const Shape& b) { return std::ranges::equal(a, b); }

/// Nodes that become one, in order; the last is the root, behind which everything else that reads them stands.
using Group = std::vector<NodeId>;

class Fuser {
 public:
  Fuser(Graph& graph, const LeftAlone& left_alone)
      : graph_(graph),
        facts_(infer_graph(graph)),
        readers_(graph.values().size()),
        taken_(graph.nodes().size(), false) {
    find_readers();
    for (const Node& node : graph_.nodes())
      steps_.push_back(left_alone.count(node.name) > 0 ? std::nullopt : as_vector_step(graph_, facts_, node));
  }

  Places run() {
    Places places;
    std::vector<bool> removed(graph_.nodes().size(), false);
    for (size_t i = graph_.nodes().size(); i-- > 0;) {
      if (taken_[i] || !steps_[i]) continue;
      const Group group = grow(static_cast<NodeId>(i));
      if (group.size() < 2 || !inputs_tell_the_shape(group)) continue;
      for (const NodeId member : group) {
        taken_[static_cast<size_t>(member)] = true;
        removed[static_cast<size_t>(member)] = member != group.back();
      }
      replacements_.emplace_back(group.back(), fused_node(group));
      Place place{.anchor = part_of(graph_.node(group.back())), .parts = {}, .is_chain = false};
      for (const NodeId member : group)
        if (member != group.back()) place.parts.push_back(part_of(graph_.node(member)));
      places.push_back(std::move(place));
    }
    for (auto& [root, node] : replacements_) graph_.node(root) = std::move(node);
    if (!places.empty()) erase_nodes(graph_, removed);
    return places;
  }

 private:
  static constexpr NodeId kEnd = std::numeric_limits<NodeId>::max();  // reads as an output of the graph

  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }
  const DrawnStep& drawn(NodeId id) const { return *steps_[static_cast<size_t>(id)]; }
  ValueId result(NodeId id) const { return graph_.node(id).outputs[0]; }
  const Shape& shape(NodeId id) const { return *type(result(id)).shape; }
  const std::vector<NodeId>& readers(ValueId id) const { return readers_[static_cast<size_t>(id)]; }

  void find_readers() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      const auto add = [&](ValueId id) {
        if (id != kNoValue) readers_[static_cast<size_t>(id)].push_back(static_cast<NodeId>(i));
      };
      for (const ValueId id : node.inputs) add(id);
      for (const auto& [name, attribute] : node.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
          for (const Capture& capture : (*body)->captures) add(capture.outer);
    }
    for (const ValueId id : graph_.outputs) readers_[static_cast<size_t>(id)].push_back(kEnd);
  }

  static bool contains(const Group& group, NodeId id) { return std::ranges::find(group, id) != group.end(); }

  /// The members whose results are read outside, the root first.
  std::vector<NodeId> results_of(const Group& group) const {
    std::vector<NodeId> results{group.back()};
    for (const NodeId member : group)
      if (member != group.back() &&
          std::ranges::any_of(readers(result(member)), [&](NodeId reader) { return !contains(group, reader); }))
        results.push_back(member);
    return results;
  }

  std::vector<ValueId> inputs_of(const Group& group) const {
    std::vector<ValueId> inputs;
    for (const NodeId member : group)
      for (const ValueId id : drawn(member).values)
        if (id != kNoValue && !contains(group, graph_.value(id).producer) &&
            std::ranges::find(inputs, id) == inputs.end())
          inputs.push_back(id);
    return inputs;
  }

  /// From a root backwards: the producer that stands last is looked at first, since all that reads it is decided then.
  Group grow(NodeId root) const {
    Group group{root};
    std::vector<NodeId> refused;
    while (group.size() < kMostSteps) {
      NodeId next = kNoNode;
      for (const ValueId id : inputs_of(group)) {
        const NodeId producer = graph_.value(id).producer;
        if (producer > next && !contains(refused, producer)) next = producer;
      }
      if (next == kNoNode) break;
      if (!joins(group, next)) {
        refused.push_back(next);
        continue;
      }
      group.insert(std::ranges::lower_bound(group, next), next);
    }
    return group;
  }

  bool joins(const Group& group, NodeId candidate) const {
    if (taken_[static_cast<size_t>(candidate)] || !steps_[static_cast<size_t>(candidate)]) return false;
    const NodeId root = group.back();
    if (!same_shape(shape(candidate), shape(root))) return false;
    // It moves to the root's place, so nothing before that may read it.
    for (const NodeId reader : readers(result(candidate)))
      if (reader < root && !contains(group, reader)) return false;
    bool rows = drawn(candidate).step.looks_at_rows();
    for (const NodeId member : group) {
      const DrawnStep& step = drawn(member);
      if (!step.step.looks_at_rows()) continue;
      if (rows) return false;  // one in a group
      // Scale and shift of a normalisation come from outside.
      if (std::find(step.values.begin() + 1, step.values.end(), result(candidate)) != step.values.end()) return false;
    }
    Group larger = group;
    larger.insert(std::ranges::lower_bound(larger, candidate), candidate);
    return inputs_of(larger).size() <= kMostInputs && results_of(larger).size() <= kMostOutputs;
  }

  /// Every dim of the results stands in some input, so that the operator finds it again.
  bool inputs_tell_the_shape(const Group& group) const {
    const Shape& target = shape(group.back());
    const auto inputs = inputs_of(group);
    for (size_t i = 0; i < target.size(); ++i) {
      const bool told = std::ranges::any_of(inputs, [&](ValueId id) {
        const Shape& own = *type(id).shape;
        return own.size() + i >= target.size() && own[own.size() + i - target.size()] == target[i];
      });
      if (!told) return false;
    }
    return true;
  }

  /// Inputs that are as large as the results come first: what is known of the first one is taken for all.
  void order(std::vector<ValueId>& inputs, const Shape& target) const {
    const auto rank = [&](ValueId id) {
      const bool full = same_shape(*type(id).shape, target) && type(id).dtype != DType::boolean;
      return full ? (graph_.value(id).is_constant() ? 1 : 0) : 2;
    };
    std::ranges::stable_sort(inputs, std::less{}, rank);
  }

  Node fused_node(const Group& group) const {
    std::vector<ValueId> inputs = inputs_of(group);
    order(inputs, shape(group.back()));
    VectorProgram program;
    for (const NodeId member : group) {
      DrawnStep step = drawn(member);
      for (size_t i = 0; i < step.values.size(); ++i) {
        if (step.values[i] == kNoValue) continue;
        const auto input = std::ranges::find(inputs, step.values[i]);
        const bool outside = input != inputs.end();
        const auto inside = std::ranges::find(group, graph_.value(step.values[i]).producer);
        step.step.operands[i] = {outside ? VectorOperand::Kind::input : VectorOperand::Kind::step,
                                 static_cast<int>(outside ? input - inputs.begin() : inside - group.begin()), 0};
      }
      program.steps.push_back(std::move(step.step));
    }
    Node node;
    node.name = graph_.node(group.back()).name;
    node.domain = "attune";
    node.op = "FusedVector";
    node.version = 1;
    node.inputs = std::move(inputs);
    for (const NodeId member : results_of(group)) {
      program.results.push_back(static_cast<int>(std::ranges::find(group, member) - group.begin()));
      node.outputs.push_back(result(member));
    }
    node.attributes = vector_program_attributes(program);
    return node;
  }

  Graph& graph_;
  GraphFacts facts_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<std::optional<DrawnStep>> steps_;
  std::vector<bool> taken_;
  std::vector<std::pair<NodeId, Node>> replacements_;
};

}  // namespace

Places fuse_vectors(Graph& graph, const LeftAlone& left_alone) {
  try {
    return Fuser(graph, left_alone).run();
  } catch (const UserError&) {
    return {};  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
