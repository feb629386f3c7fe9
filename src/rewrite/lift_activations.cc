#include "rewrite/lift_activations.h"

#include "ops/node_traits.h"
#include "rewrite/as_activation.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

bool is_product(const Node& node) { return node.domain.empty() && (node.op == "Conv" || node.op == "MatMul"); }
/// Moves elements, or only renames their dims; each is as it was.
bool moves_elements(const Node& node) { return renames_dims(node) || (node.domain.empty() && node.op == "Transpose"); }

class Lifter {
 public:
  explicit Lifter(Graph& graph) : graph_(graph), uses_(graph) {}

  int run() {
    int changes = 0;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) changes += lift(static_cast<NodeId>(i)) ? 1 : 0;
    return changes;
  }

 private:
  NodeId maker(ValueId id) const { return graph_.value(id).producer; }

  /// A product, or one with a constant added: what will take the activation in.
  bool is_of_product(ValueId id) const {
    if (maker(id) == kNoNode || uses_.only_reader(id) == kNoNode) return false;
    const Node& node = graph_.node(maker(id));
    if (is_product(node)) return true;
    if (!node.domain.empty() || node.op != "Add") return false;
    for (size_t i = 0; i < 2; ++i)
      if (constant_input(graph_, node, i) != nullptr && maker(node.inputs[1 - i]) != kNoNode)
        return is_product(graph_.node(maker(node.inputs[1 - i]))) && uses_.only_reader(node.inputs[1 - i]) != kNoNode;
    return false;
  }

  bool lift(NodeId activation) {
    if (!as_activation(graph_, graph_.node(activation))) return false;
    std::vector<NodeId> chain{activation};  // from the last to the first
    ValueId source = graph_.node(activation).inputs[0];
    while (maker(source) != kNoNode && moves_elements(graph_.node(maker(source)))) {
      if (uses_.only_reader(source) == kNoNode) return false;
      chain.push_back(maker(source));
      source = graph_.node(chain.back()).inputs[0];
    }
    if (chain.size() == 1 || !is_of_product(source)) return false;
    // Values stay where they are in the graph; what makes them comes one place later, and the activation first.
    std::ranges::reverse(chain);
    const auto last = chain.size() - 1;
    std::vector<Node> moved;
    for (size_t i = 0; i <= last; ++i) moved.push_back(graph_.node(chain[i == 0 ? last : i - 1]));
    for (size_t i = 0; i <= last; ++i) {
      moved[i].inputs[0] = graph_.node(chain[i]).inputs[0];
      moved[i].outputs = graph_.node(chain[i]).outputs;
    }
    for (size_t i = last; i-- > 0;) {  // each value but the last has the dims of the one before
      const ValueId to = graph_.node(chain[i]).outputs[0], from = graph_.node(chain[i]).inputs[0];
      graph_.value(to).shape = graph_.value(from).shape;
    }
    for (size_t i = 0; i <= last; ++i) graph_.node(chain[i]) = std::move(moved[i]);
    return true;
  }

  Graph& graph_;
  Uses uses_;
};

}  // namespace

int lift_activations(Graph& graph) { return Lifter(graph).run(); }

}  // namespace attune::rewrite
