#include "rewrite/factor_sums.h"

#include "ops/convert.h"
#include "ops/infer_graph.h"
#include "rewrite/match.h"
#include "rewrite/uses.h"
#include "rewrite/vector_step.h"

namespace attune::rewrite {
namespace {

class Factorer {
 public:
  explicit Factorer(Graph& graph) : graph_(graph), facts_(infer_graph(graph)), uses_(graph), match_(graph) {}

  int run() {
    int changes = 0;
    for (Node& node : graph_.nodes()) changes += factor(node);
    return changes;
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }

  /// Spreads over x, provably, and repeats along an axis of it.
  bool is_smaller(ValueId s, ValueId x) const {
    const auto &small = type(s).shape, &large = type(x).shape;
    if (!small || !large || small->size() != large->size() || !spreads_over(*small, *large)) return false;
    for (size_t i = 0; i < large->size(); ++i)
      if ((*small)[i] == Dim(1) && !((*large)[i] == Dim(1)) && !(*large)[i].is_unknown()) return true;
    return false;
  }

  int factor(Node& sum) {
    if (!sum.domain.empty() || sum.op != "Add" || sum.inputs.size() != 2 || sum.inputs[0] == sum.inputs[1]) return 0;
    for (size_t i = 0; i < 2; ++i) {
      const ValueId x = sum.inputs[i], product = sum.inputs[1 - i];
      const Node* found = match_.made_by(product, "Mul");
      const auto s = found ? Matcher::beside(*found, x) : std::nullopt;
      if (!s || uses_.only_reader(product) == kNoNode || !is_float(type(x).dtype) || !is_smaller(*s, x)) continue;
      // The product's node comes first, so it is the one to compute the factor.
      Node& factor = graph_.node(graph_.value(product).producer);
      factor.op = "Add";
      factor.inputs = {*s,
                       graph_.add_constant(factor.name + "_one", convert(Tensor::scalar<double>(1), type(x).dtype))};
      facts_.types.resize(graph_.values().size());
      facts_.types[static_cast<size_t>(product)] = type(*s);
      graph_.value(product).shape = type(*s).shape;
      sum.op = "Mul";
      sum.inputs = {x, product};
      return 1;
    }
    return 0;
  }

  Graph& graph_;
  GraphFacts facts_;
  Uses uses_;
  Matcher match_;
};

}  // namespace

int factor_sums(Graph& graph) {
  try {
    return Factorer(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
