#include "rewrite/inline_branches.h"

#include <map>
#include <set>

namespace attune::rewrite {
namespace {

constexpr int kIdentityOpset = 16;

/// Moves the nodes of one branch into the graph around it.
class Inliner {
 public:
  Inliner(Graph& graph, const Node& owner, const Graph& branch, std::set<std::string>& names)
      : graph_(graph), owner_(owner), branch_(branch), names_(names) {
    for (const Capture& capture : branch.captures) ids_[capture.inner] = capture.outer;
    // What a branch computes takes the place of the If's output; what it only hands on is copied below.
    for (size_t i = 0; i < owner.outputs.size(); ++i) {
      const ValueId inner = branch.outputs.at(i);
      if (owner.outputs[i] != kNoValue && branch.value(inner).producer != kNoNode)
        ids_.emplace(inner, owner.outputs[i]);
    }
  }

  void run(std::vector<Node>& nodes) {
    for (const Node& node : branch_.nodes()) nodes.push_back(moved(node));
    for (size_t i = 0; i < owner_.outputs.size(); ++i) {
      const ValueId outer = owner_.outputs[i], result = outer_id(branch_.outputs[i]);
      if (outer == kNoValue || outer == result) continue;
      Node copy;
      copy.name = unique_name(graph_.value(outer).name + "_copy");
      copy.op = "Identity";
      copy.version = kIdentityOpset;
      copy.inputs = {result};
      copy.outputs = {outer};
      nodes.push_back(std::move(copy));
    }
  }

 private:
  ValueId outer_id(ValueId inner) {
    if (inner == kNoValue) return kNoValue;
    if (const auto found = ids_.find(inner); found != ids_.end()) return found->second;
    Value value = branch_.value(inner);
    value.producer = kNoNode;
    return ids_[inner] = graph_.add_value(std::move(value));
  }

  std::string unique_name(std::string name) {
    while (!names_.insert(name).second) name = owner_.name + "/" + name;
    return name;
  }

  Node moved(const Node& node) {
    Node result = node;
    result.name = unique_name(node.name);
    for (ValueId& id : result.inputs) id = outer_id(id);
    for (ValueId& id : result.outputs) id = outer_id(id);
    for (auto& [name, attribute] : result.attributes)
      if (auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) {
        auto own = std::make_shared<Graph>(**body);  // its captures have other ids here
        for (Capture& capture : own->captures) capture.outer = outer_id(capture.outer);
        *body = std::move(own);
      }
    return result;
  }

  Graph& graph_;
  const Node& owner_;
  const Graph& branch_;
  std::set<std::string>& names_;
  std::map<ValueId, ValueId> ids_;  // of the branch → of the graph
};

}  // namespace

int inline_branches(Graph& graph, const std::function<std::optional<bool>(const Node&)>& decide) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes()) names.insert(node.name);
  const std::vector<Node> before = graph.nodes();
  std::vector<Node> nodes;
  int changes = 0;
  for (const Node& node : before) {
    const auto condition = node.domain.empty() && node.op == "If" ? decide(node) : std::nullopt;
    if (!condition) {
      nodes.push_back(node);
      continue;
    }
    const auto& branch =
        std::get<std::shared_ptr<Graph>>(node.attributes.at(*condition ? "then_branch" : "else_branch"));
    Inliner(graph, node, *branch, names).run(nodes);
    ++changes;
  }
  if (changes > 0) graph.set_nodes(std::move(nodes));
  return changes;
}

}  // namespace attune::rewrite
