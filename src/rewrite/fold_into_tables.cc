#include "rewrite/fold_into_tables.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "ops/run_node.h"
#include "ops/vector_program.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

namespace attune::rewrite {
namespace {

bool is_look_up(const Graph& graph, const Node& node) {
  return node.domain.empty() && node.op == "Gather" && constant_input(graph, node, 0) != nullptr &&
         attribute_or<int64_t>(node.attributes, "axis", 0) == 0;
}

/// Each element of the result depends on one element of each operand.
bool is_elementwise(const Node& node) {
  return node.domain.empty() && node.outputs.size() == 1 && has_vector_step(node.op, node.inputs.size()) &&
         !VectorStep{node.op, {}, {}}.looks_at_rows() && node.attributes.count("axis") == 0;
}

class Folder {
 public:
  explicit Folder(Graph& graph) : graph_(graph), facts_(infer_graph(graph)), uses_(graph) {}

  int run() {
    int changes = 0;
    // In order, so that a chain of operators goes into the table one after the other.
    for (Node& node : graph_.nodes()) changes += fold(node);
    if (changes > 0) remove_dead(graph_);
    return changes;
  }

 private:
  const std::optional<Shape>& shape(ValueId id) const { return facts_.types[static_cast<size_t>(id)].shape; }

  /// The look-up behind the one operand that is not constant.
  const Node* look_up_before(const Node& node) const {
    const Node* found = nullptr;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || graph_.value(id).is_constant()) continue;
      if (found != nullptr || graph_.value(id).producer == kNoNode || uses_.only_reader(id) == kNoNode) return nullptr;
      found = &graph_.node(graph_.value(id).producer);
      if (!is_look_up(graph_, *found)) return nullptr;
    }
    return found;
  }

  /// Whether at least as many rows are looked up as there are, so that the table is the smaller work.
  bool reads_most(const Node& look_up) const {
    const auto& index = shape(look_up.inputs[1]);
    if (!index) return false;
    double reads = 1;
    for (const Dim& dim : *index) reads *= dim.is_known() ? static_cast<double>(dim.value()) : 1;
    return reads >= static_cast<double>(graph_.value(look_up.inputs[0]).constant.dim(0));
  }

  /// A constant operand as it has to lie beside the table; nothing where it differs between look-ups.
  static std::optional<Tensor> beside_table(const Tensor& constant, int64_t table_rank) {
    Dims dims = constant.dims();
    while (std::ssize(dims) >= table_rank && !dims.empty()) {
      if (dims.front() != 1) return std::nullopt;
      dims.erase(dims.begin());
    }
    return constant.reshaped(dims);
  }

  int fold(Node& node) {
    if (node.inputs.empty() || !is_elementwise(node)) return 0;
    const Node* look_up = look_up_before(node);
    if (look_up == nullptr || !reads_most(*look_up) || !shape(look_up->outputs[0]) || !shape(node.outputs[0]) ||
        shape(look_up->outputs[0])->size() != shape(node.outputs[0])->size())
      return 0;
    const Tensor table = graph_.value(look_up->inputs[0]).constant.held();
    if (table.rank() == 0) return 0;
    std::vector<Tensor> operands(node.inputs.size());
    std::vector<const Tensor*> inputs(node.inputs.size(), nullptr);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const Value& value = graph_.value(node.inputs[i]);
      if (value.is_constant()) {
        const auto operand = beside_table(value.constant.held(), table.rank());
        if (!operand) return 0;
        operands[i] = *operand;
      } else {
        operands[i] = table;
      }
      inputs[i] = &operands[i];
    }
    const Tensor result = run_node(node, inputs)[0];
    if (result.dims() != table.dims()) return 0;  // a constant that is wider than the rows
    Node folded = *look_up;
    folded.name = node.name;
    folded.inputs[0] = graph_.add_constant(node.name + "_table", result);
    folded.outputs = node.outputs;
    facts_.types.resize(graph_.values().size());
    node = std::move(folded);
    return 1;
  }

  Graph& graph_;
  GraphFacts facts_;
  Uses uses_;
};

}  // namespace

int fold_into_tables(Graph& graph) {
  try {
    return Folder(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
