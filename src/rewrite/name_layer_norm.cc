#include "rewrite/name_layer_norm.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/match.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

constexpr int kOpset = 17;  // the first that has LayerNormalization

/// (x - mean) / sqrt(variance + epsilon), both over the axes from one on.
struct Normalized {
  ValueId x = kNoValue;
  int64_t axis = 0;
  float epsilon = 0;
};

class Namer {
 public:
  explicit Namer(Graph& graph) : graph_(graph), facts_(infer_graph(graph)), uses_(graph), match_(graph) {}

  int run() {
    int changes = 0;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) changes += name(static_cast<NodeId>(i));
    if (changes > 0) remove_dead(graph_);
    return changes;
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }

  /// The first axis of a ReduceMean over the last axes, which keeps them; nothing for others.
  std::optional<int64_t> mean_axis(const Node& mean) const {
    const auto& shape = type(mean.inputs[0]).shape;
    auto axes = axes_of(graph_, mean);
    if (!shape || !axes || axes->empty() || attribute_or<int64_t>(mean.attributes, "keepdims", 1) == 0)
      return std::nullopt;
    const auto rank = static_cast<int64_t>(shape->size());
    for (int64_t& axis : *axes) axis = axis < 0 ? axis + rank : axis;
    std::sort(axes->begin(), axes->end());
    for (size_t i = 0; i < axes->size(); ++i)
      if ((*axes)[i] != rank - std::ssize(*axes) + static_cast<int64_t>(i)) return std::nullopt;
    return axes->front();
  }

  /// x of x - mean(x).
  std::optional<Normalized> centred(ValueId id) const {
    const Node* sub = match_.made_by(id, "Sub");
    const Node* mean = sub ? match_.made_by(sub->inputs[1], "ReduceMean") : nullptr;
    if (mean == nullptr || mean->inputs[0] != sub->inputs[0]) return std::nullopt;
    const auto axis = mean_axis(*mean);
    return axis ? std::optional(Normalized{sub->inputs[0], *axis, 0}) : std::nullopt;
  }

  /// What variance + epsilon under a square root was made from.
  std::optional<Normalized> deviation(ValueId id) const {
    const Node* root = match_.made_by(id, "Sqrt");
    const Node* add = root ? match_.made_by(root->inputs[0], "Add") : nullptr;
    if (add == nullptr) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const auto epsilon = scalar_input(graph_, *add, i);
      const Node* mean = match_.made_by(add->inputs[1 - i], "ReduceMean");
      if (!epsilon || *epsilon < 0 || mean == nullptr) continue;
      const auto axis = mean_axis(*mean);
      auto found = centred(squared(mean->inputs[0]));
      if (!found || found->axis != axis) continue;
      found->epsilon = static_cast<float>(*epsilon);
      return found;
    }
    return std::nullopt;
  }

  ValueId squared(ValueId id) const {
    if (const auto x = match_.applied(id, "Pow", 2)) return *x;
    const Node* product = match_.made_by(id, "Mul");
    return product && product->inputs[0] == product->inputs[1] ? product->inputs[0] : kNoValue;
  }

  std::optional<Normalized> normalized(const Node& last) const {
    ValueId above = kNoValue, below = kNoValue;
    if (last.op == "Div") {
      above = last.inputs[0];
      below = last.inputs[1];
    } else if (last.op == "Mul" && last.inputs.size() == 2) {
      for (size_t i = 0; i < 2; ++i)
        if (const Node* inverse = match_.made_by(last.inputs[i], "Reciprocal")) {
          above = last.inputs[1 - i];
          below = inverse->inputs[0];
        }
    }
    if (above == kNoValue) return std::nullopt;
    const auto found = centred(above), divisor = deviation(below);
    if (!found || !divisor || found->x != divisor->x || found->axis != divisor->axis) return std::nullopt;
    // Numbers of many ones would have given the result more dims; other types compute in other precisions.
    const ValueType &x = type(found->x), &y = type(last.outputs[0]);
    if (x.dtype != DType::f32 || !x.shape || !y.shape || *x.shape != *y.shape) return std::nullopt;
    return divisor;
  }

  /// The node that alone reads a value, when it does this with a constant of the normalised dims; that constant.
  std::pair<NodeId, ValueId> parameter(ValueId id, std::string_view op, const Dims& dims) const {
    const NodeId reader = uses_.only_reader(id);
    if (reader == kNoNode || !graph_.node(reader).domain.empty() || graph_.node(reader).op != op)
      return {kNoNode, kNoValue};
    const auto other = Matcher::beside(graph_.node(reader), id);
    const bool fits = other && graph_.value(*other).is_constant() && graph_.value(*other).constant.dims() == dims &&
                      graph_.value(*other).constant.dtype() == DType::f32;
    return fits ? std::pair{reader, *other} : std::pair{kNoNode, kNoValue};
  }

  int name(NodeId id) {
    const Node& last = graph_.node(id);
    if (!last.domain.empty()) return 0;
    const auto found = normalized(last);
    if (!found) return 0;
    const Shape& shape = *type(found->x).shape;
    const auto dims = concrete(Shape(shape.begin() + found->axis, shape.end()));
    if (!dims) return 0;
    Node norm;
    norm.name = last.name;
    norm.op = "LayerNormalization";
    norm.version = kOpset;
    norm.attributes["axis"] = found->axis;
    norm.attributes["epsilon"] = found->epsilon;
    NodeId place = id;
    const auto [multiply, scale] = parameter(last.outputs[0], "Mul", *dims);
    if (multiply != kNoNode) place = multiply;
    norm.inputs = {found->x, scale != kNoValue ? scale : ones(last.name, *dims)};
    const auto [add, bias] = parameter(graph_.node(place).outputs[0], "Add", *dims);
    if (add != kNoNode) {
      place = add;
      norm.inputs.push_back(bias);
    }
    norm.outputs = graph_.node(place).outputs;
    graph_.node(place) = std::move(norm);
    return 1;
  }

  ValueId ones(const std::string& name, const Dims& dims) {
    Tensor tensor = Tensor::allocate(DType::f32, dims);
    std::fill_n(tensor.mutable_data<float>(), tensor.count(), 1.0f);
    return graph_.add_constant(name + "_ones", std::move(tensor));
  }

  Graph& graph_;
  GraphFacts facts_;
  Uses uses_;
  Matcher match_;
};

}  // namespace

int name_layer_norm(Graph& graph) {
  try {
    return Namer(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
