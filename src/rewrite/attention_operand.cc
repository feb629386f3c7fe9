#include "rewrite/attention_operand.h"

#include "ops/convert.h"
#include "rewrite/trace_view.h"

#include <array>

namespace attune::rewrite {
namespace {

constexpr size_t kLongestWay = 24;

struct Step {
  const Node* node;
  ValueId output;
  double factor;  // of a multiplication; views have 1
  bool moves;     // a view
};

const std::optional<Shape>& shape_of(const GraphFacts& facts, ValueId id) {
  return facts.types[static_cast<size_t>(id)].shape;
}

/// The heads of a view, when one order of axes describes them.
std::optional<AttentionOperand> match(const View& view, const OperandAxes& axes, const Shape& source, HeadOrder order) {
  const auto batch = view.axis(axes.batch), head = view.axis(axes.head), row = view.axis(axes.row),
             element = view.axis(axes.element);
  if (!batch || !head || !row || !element || !head->size.is_known() || !element->size.is_known()) return std::nullopt;
  const bool columns = source.size() == 3;
  const bool heads_first = order == HeadOrder::batch_heads_rows;
  if (columns ? heads_first : source.size() != 4) return std::nullopt;
  const size_t batch_at = order == HeadOrder::rows_batch_heads ? 1 : 0;
  const size_t row_at = heads_first ? 2 : 1 - batch_at;
  std::vector<Dim> strides(source.size(), Dim(1));
  for (size_t i = source.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * source[i + 1];
  // An axis of size 1 lies at any stride.
  const auto lies = [](const Stretch& stretch, const Dim& size, const Dim& stride) {
    return stretch.size == size && (size == Dim(1) || stretch.stride == stride);
  };
  if (!lies(*batch, source[batch_at], strides[batch_at]) || !lies(*row, source[row_at], strides[row_at]) ||
      !lies(*element, element->size, Dim(1)) || !view.offset().is_known())
    return std::nullopt;
  AttentionOperand result;
  result.order = order;
  result.column = view.offset().value();
  if (columns) {
    const int64_t end = result.column + head->size.value() * element->size.value();
    const bool fits = source[2].is_known() && end <= source[2].value() && lies(*head, head->size, element->size);
    return fits ? std::optional(result) : std::nullopt;
  }
  const size_t head_at = heads_first ? 1 : 2;
  const bool fits = result.column == 0 && source[3] == element->size && lies(*head, source[head_at], strides[head_at]);
  return fits ? std::optional(result) : std::nullopt;
}

}  // namespace

std::optional<double> known_number(const GraphFacts& facts, ValueId id) {
  if (id == kNoValue) return std::nullopt;
  const Tensor& tensor = facts.constants[static_cast<size_t>(id)];
  if (tensor.empty() || tensor.count() != 1 || !is_float(tensor.dtype())) return std::nullopt;
  return element_as_double(tensor, 0);
}

std::optional<Scaled> as_scaling(const GraphFacts& facts, const Node& node) {
  const bool mul = node.op == "Mul", div = node.op == "Div";
  if (!node.domain.empty() || (!mul && !div) || node.inputs.size() != 2) return std::nullopt;
  for (const size_t at : {size_t{1}, size_t{0}}) {
    const auto number = known_number(facts, node.inputs[at]);
    if (!number || (div && (at == 0 || *number == 0))) continue;
    // A number in many axes would give the result more of them.
    const auto &other = shape_of(facts, node.inputs[1 - at]), &result = shape_of(facts, node.outputs[0]);
    if (!other || !result || other->size() != result->size()) continue;
    return Scaled{node.inputs[1 - at], div ? 1 / *number : *number};
  }
  return std::nullopt;
}

std::optional<AttentionOperand> find_operand(const Graph& graph, const GraphFacts& facts, ValueId value,
                                             const OperandAxes& axes, Scaling scaling) {
  std::vector<Step> way;  // from the product to the source
  ValueId at = value;
  while (way.size() < kLongestWay) {
    const NodeId producer = graph.value(at).producer;
    if (producer == kNoNode) break;
    const Node& node = graph.node(producer);
    if (is_view_node(node)) {
      way.push_back({&node, at, 1, true});
      at = node.inputs[0];
    } else if (const auto scaled = scaling == Scaling::any ? as_scaling(facts, node) : std::nullopt) {
      way.push_back({&node, at, scaled->factor, false});
      at = scaled->input;
    } else {
      break;
    }
  }
  for (size_t length = way.size() + 1; length-- > 0;) {
    const ValueId source = length == 0             ? value
                           : way[length - 1].moves ? way[length - 1].node->inputs[0]
                                                   : as_scaling(facts, *way[length - 1].node)->input;
    const auto& shape = shape_of(facts, source);
    if (!shape || (shape->size() != 3 && shape->size() != 4)) continue;
    View view(*shape);
    double scale = 1;
    bool followed = true;
    for (size_t i = length; i-- > 0 && followed;) {
      scale *= way[i].factor;
      if (way[i].moves) followed = view.follow(facts, *way[i].node, way[i].output);
    }
    if (!followed || view.rank() != 4) continue;
    for (const HeadOrder order :
         {HeadOrder::batch_rows_heads, HeadOrder::rows_batch_heads, HeadOrder::batch_heads_rows})
      if (auto found = match(view, axes, *shape, order)) {
        found->source = source;
        found->scale = scale;
        return found;
      }
  }
  return std::nullopt;
}

}  // namespace attune::rewrite
