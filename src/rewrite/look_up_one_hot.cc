#include "rewrite/look_up_one_hot.h"

#include "ops/convert.h"
#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/append_node.h"
#include "rewrite/match.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attune::rewrite {
namespace {

constexpr int kOpset = 13;  // of Clip, Squeeze and Gather, each as old as serves

/// What a row of zeros with a one in it was made from.
struct OneHot {
  ValueId index = kNoValue;
  bool unit_axis = false;  // the index has a last axis of one element that the vectors lie along
  bool wraps = false;      // negative indices count from the end
};

class Finder {
 public:
  explicit Finder(Graph& graph) : graph_(graph), facts_(infer_graph(graph)), match_(graph) {}

  int run() {
    const std::vector<Node> nodes = graph_.nodes();
    int changes = 0;
    for (const Node& node : nodes) {
      if (look_up(node)) {
        ++changes;
      } else {
        nodes_.push_back(node);
      }
    }
    if (changes == 0) return 0;
    graph_.set_nodes(std::move(nodes_));
    remove_dead(graph_);
    return changes;
  }

 private:
  const ValueType& type(ValueId id) const { return facts_.types[static_cast<size_t>(id)]; }

  /// 0, 1, 2 … along the last axis.
  static bool counts_up(const Tensor* numbers, int64_t size) {
    if (numbers == nullptr || is_float(numbers->dtype()) || numbers->count() != size || numbers->rank() == 0 ||
        numbers->dim(numbers->rank() - 1) != size)
      return false;
    for (int64_t i = 0; i < size; ++i)
      if (element_as_int(*numbers, i) != i) return false;
    return true;
  }

  /// Cast(Equal(index, [0, 1, 2 …])).
  std::optional<OneHot> by_comparison(ValueId id, int64_t size) const {
    const Node* cast = match_.made_by(id, "Cast");
    const Node* equal = cast ? match_.made_by(cast->inputs[0], "Equal") : nullptr;
    if (equal == nullptr) return std::nullopt;
    for (size_t i = 0; i < 2; ++i) {
      const Tensor* numbers = constant_input(graph_, *equal, i);
      const ValueId index = equal->inputs[1 - i];
      const auto& shape = type(index).shape;
      if (counts_up(numbers, size) && shape && !shape->empty() && shape->back() == Dim(1) &&
          std::ssize(*shape) >= numbers->rank())
        return OneHot{index, true, false};
    }
    return std::nullopt;
  }

  std::optional<OneHot> by_name(ValueId id, int64_t size) const {
    const Node* node = match_.made_by(id, "OneHot");
    const Tensor* values = node ? constant_input(graph_, *node, 2) : nullptr;
    if (values == nullptr || values->count() != 2 || element_as_double(*values, 0) != 0 ||
        element_as_double(*values, 1) != 1 || scalar_input(graph_, *node, 1) != static_cast<double>(size))
      return std::nullopt;
    const auto& shape = type(node->inputs[0]).shape;
    const int64_t axis = attribute_or<int64_t>(node->attributes, "axis", -1);
    if (!shape || (axis != -1 && axis != std::ssize(*shape))) return std::nullopt;
    return OneHot{node->inputs[0], false, true};
  }

  static bool all_finite(const Tensor& weights) {
    for (int64_t i = 0; i < weights.count(); ++i)
      if (!std::isfinite(element_as_double(weights, i))) return false;
    return true;
  }

  bool look_up(const Node& node) {
    if (!node.domain.empty() || node.op != "MatMul") return false;
    const Tensor* weights = constant_input(graph_, node, 1);
    if (weights == nullptr || weights->rank() != 2 || bit_width(weights->dtype()) % 8 != 0) return false;
    auto found = by_comparison(node.inputs[0], weights->dim(0));
    if (!found) found = by_name(node.inputs[0], weights->dim(0));
    if (!found) return false;
    const DType index = type(found->index).dtype;
    // In the product every other row counts as zero times itself, which is no zero for infinities.
    if (index == DType::undefined || is_float(index) || index == DType::boolean || !all_finite(*weights)) return false;
    replace(node, *found, *weights);
    return true;
  }

  /// The weights for indices from `first` on, once or twice after each other, with a row of zeros for what lies below
  /// and one for what lies above.
  static Tensor table(const Tensor& weights, int64_t times) {
    const Tensor held = weights.held();
    const auto row = static_cast<size_t>(held.size_bytes() / std::max<int64_t>(held.dim(0), 1));
    Tensor result = Tensor::zeros(held.dtype(), {times * held.dim(0) + 2, held.dim(1)});
    std::byte* out = result.mutable_bytes() + row;
    for (int64_t i = 0; i < times; ++i, out += held.size_bytes())
      std::memcpy(out, held.bytes(), static_cast<size_t>(held.size_bytes()));
    return result;
  }

  void replace(const Node& product, const OneHot& found, const Tensor& weights) {
    const std::string& name = product.name;
    const int64_t size = weights.dim(0), first = found.wraps ? -size : 0;
    ValueId index = found.index;
    const auto emit = [&](const char* what, const char* op, std::vector<ValueId> inputs, Attributes attributes = {}) {
      return append_node(graph_, nodes_, {name + what, op, kOpset, std::move(inputs), std::move(attributes)});
    };
    if (type(index).dtype != DType::i32 && type(index).dtype != DType::i64)
      index = emit("_wide", "Cast", {index}, {{"to", kInt64}});
    const bool narrow = type(found.index).dtype == DType::i32;
    const auto number = [&](const char* what, int64_t value) {
      return graph_.add_constant(name + what,
                                 narrow ? Tensor::scalar(static_cast<int32_t>(value)) : Tensor::scalar(value));
    };
    index = emit("_inside", "Clip", {index, number("_below", first - 1), number("_above", size)});
    index = emit("_row", "Add", {index, number("_first", 1 - first)});
    if (found.unit_axis) {
      const std::vector<int64_t> last = {-1};
      index = emit("_rows", "Squeeze", {index, graph_.add_constant(name + "_last", Tensor::vector(last))});
    }
    const ValueId rows =
        graph_.add_constant(graph_.value(product.inputs[1]).name + "_rows", table(weights, found.wraps ? 2 : 1));
    Node gather;
    gather.name = name;
    gather.op = "Gather";
    gather.version = kOpset;
    gather.inputs = {rows, index};
    gather.outputs = product.outputs;
    gather.attributes["axis"] = int64_t{0};
    nodes_.push_back(std::move(gather));
  }

  static constexpr int64_t kInt64 = 7;  // as ONNX numbers types

  Graph& graph_;
  GraphFacts facts_;
  Matcher match_;
  std::vector<Node> nodes_;
};

}  // namespace

int look_up_one_hot(Graph& graph) {
  try {
    return Finder(graph).run();
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
