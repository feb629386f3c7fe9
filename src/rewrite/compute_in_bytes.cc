#include "rewrite/compute_in_bytes.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "rewrite/remove_dead.h"
#include "rewrite/uses.h"

#include <algorithm>
#include <cmath>

namespace attune::rewrite {
namespace {

constexpr int kQLinearVersion = 10;
constexpr const char* kContrib = "com.microsoft";

bool is_byte(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }
bool is_op(const Node& node, std::string_view name) { return node.domain.empty() && node.op == name; }

/// One end of the pattern: the bytes, their scale and their zero point.
struct Quantized {
  ValueId bytes = kNoValue, scale = kNoValue, zero = kNoValue;
  const Tensor* scales = nullptr;
  const Tensor* zeros = nullptr;
  int64_t axis = 1;  // of the scales where there are several
  bool whole() const { return scales->count() == 1; }
};

/// The scale and zero point of a QuantizeLinear or DequantizeLinear; nothing unless both are constant and fit.
std::optional<Quantized> parameters_of(const Graph& graph, const Node& node) {
  Quantized found;
  found.scales = constant_input(graph, node, 1);
  found.zeros = constant_input(graph, node, 2);  // without one the type of the bytes is not known here
  if (found.scales == nullptr || found.zeros == nullptr || !is_byte(found.zeros->dtype())) return std::nullopt;
  if (found.scales->dtype() != DType::f32 || found.scales->count() != found.zeros->count()) return std::nullopt;
  if (found.scales->rank() > 1 || attribute_or<int64_t>(node.attributes, "block_size", 0) != 0) return std::nullopt;
  if (node.attributes.count("output_dtype") || node.attributes.count("precision")) return std::nullopt;
  for (int64_t i = 0; i < found.scales->count(); ++i)
    if (!(found.scales->data<float>()[i] > 0) || !std::isfinite(found.scales->data<float>()[i])) return std::nullopt;
  found.scale = node.inputs[1];
  found.zero = node.inputs[2];
  found.axis = attribute_or<int64_t>(node.attributes, "axis", 1);
  return found;
}

/// What a value is the dequantised form of.
std::optional<Quantized> dequantized(const Graph& graph, ValueId id) {
  if (id == kNoValue || graph.value(id).producer == kNoNode) return std::nullopt;
  const Node& node = graph.node(graph.value(id).producer);
  if (!is_op(node, "DequantizeLinear")) return std::nullopt;
  auto found = parameters_of(graph, node);
  if (found) found->bytes = node.inputs[0];
  return found;
}

bool same_parameters(const Quantized& a, const Quantized& b) {
  return a.whole() && b.whole() && a.zeros->dtype() == b.zeros->dtype() &&
         a.scales->data<float>()[0] == b.scales->data<float>()[0] && a.zeros->bytes()[0] == b.zeros->bytes()[0];
}

/// The i32 constant behind a dequantised bias whose scale is that of the products; kNoValue when it is another.
ValueId integer_bias(const Graph& graph, ValueId id, const Quantized& x, const Quantized& weights) {
  constexpr float kRounding = 1e-6F;  // exporters multiply in one precision or another
  const NodeId producer = graph.value(id).producer;
  if (producer == kNoNode || !is_op(graph.node(producer), "DequantizeLinear")) return kNoValue;
  const Node& node = graph.node(producer);
  const Tensor *bias = constant_input(graph, node, 0), *scales = constant_input(graph, node, 1);
  if (bias == nullptr || bias->dtype() != DType::i32 || scales == nullptr || scales->dtype() != DType::f32)
    return kNoValue;
  if (const Tensor* zeros = constant_input(graph, node, 2)) {
    for (int64_t i = 0; i < zeros->count(); ++i)
      if (element_as_double(*zeros, i) != 0) return kNoValue;
  } else if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    return kNoValue;
  }
  const int64_t count = std::max(scales->count(), weights.scales->count());
  for (const Tensor* each : {scales, weights.scales})
    if (each->count() != 1 && each->count() != count) return kNoValue;
  for (int64_t i = 0; i < count; ++i) {
    const float wanted = x.scales->data<float>()[0] * weights.scales->data<float>()[weights.whole() ? 0 : i];
    const float given = scales->data<float>()[scales->count() == 1 ? 0 : i];
    if (!(std::abs(given - wanted) <= kRounding * wanted)) return kNoValue;
  }
  return node.inputs[0];
}

class Joiner {
 public:
  explicit Joiner(Graph& graph) : graph_(graph), uses_(graph) {}

  int run() {
    int changes = 0;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& last = graph_.nodes()[i];
      if (!is_op(last, "QuantizeLinear")) continue;
      const auto y = parameters_of(graph_, last);
      if (!y || !y->whole()) continue;
      const Node* middle = producer_behind_activation(last, *y);
      if (middle == nullptr) continue;
      std::optional<Node> joined = join(*middle, *y, middle->outputs[0] == last.inputs[0]);
      if (!joined) continue;
      joined->name = middle->name;
      joined->outputs = last.outputs;
      graph_.node(static_cast<NodeId>(i)) = std::move(*joined);
      ++changes;
    }
    if (changes > 0) remove_dead(graph_);
    return changes;
  }

 private:
  const Node* only_producer(ValueId id) const {
    const NodeId producer = graph_.value(id).producer;
    if (producer == kNoNode || uses_.only_reader(id) == kNoNode || graph_.node(producer).outputs.size() != 1)
      return nullptr;
    return &graph_.node(producer);
  }

  /// The operator before a QuantizeLinear. A Relu or Clip between them goes where the range of the bytes clips alike.
  const Node* producer_behind_activation(const Node& last, const Quantized& y) const {
    const Node* node = only_producer(last.inputs[0]);
    if (node == nullptr) return nullptr;
    const double lowest = y.zeros->dtype() == DType::i8 ? -128 : 0, highest = lowest + 255;
    const double zero = element_as_double(*y.zeros, 0), scale = y.scales->data<float>()[0];
    double low = 0, high = std::numeric_limits<double>::infinity();
    if (is_op(*node, "Clip")) {
      if (node->inputs.size() < 2) return node;  // bounds as attributes: of models older than these operators
      low = node->inputs[1] == kNoValue ? -high : scalar_input(graph_, *node, 1).value_or(high);
      if (node->inputs.size() > 2 && node->inputs[2] != kNoValue) high = scalar_input(graph_, *node, 2).value_or(-high);
    } else if (!is_op(*node, "Relu")) {
      return node;
    }
    // Half a step inside is what rounds to the last byte.
    if (low / scale + zero > lowest || high / scale + zero < highest) return node;
    const Node* before = only_producer(node->inputs[0]);
    return before != nullptr ? before : node;
  }

  /// The node on bytes, without name and outputs. `direct`: no activation was left out behind the operator.
  std::optional<Node> join(const Node& node, const Quantized& y, bool direct) const {
    if (is_op(node, "Conv")) return join_conv(node, y);
    if (is_op(node, "MatMul")) return join_matmul(node, y);
    if (is_op(node, "Gemm")) return join_gemm(node, y);
    if (is_op(node, "Add")) return join_binary(node, y, "QLinearAdd");
    if (is_op(node, "Mul")) return join_binary(node, y, "QLinearMul");
    if (is_op(node, "GlobalAveragePool") || is_op(node, "AveragePool")) return join_average(node, y);
    return direct ? join_movement(node, y) : std::nullopt;
  }

  static Node made(std::string_view domain, std::string_view op, int version, const Attributes& attributes) {
    Node node;
    node.domain = domain;
    node.op = op;
    node.version = version;
    node.attributes = attributes;
    return node;
  }

  std::optional<Node> join_conv(const Node& node, const Quantized& y) const {
    const auto x = dequantized(graph_, node.inputs[0]), weights = dequantized(graph_, node.inputs[1]);
    if (!x || !x->whole() || !weights || (!weights->whole() && weights->axis != 0)) return std::nullopt;
    Node joined = made("", "QLinearConv", kQLinearVersion, node.attributes);
    joined.inputs = {x->bytes, x->scale, x->zero, weights->bytes, weights->scale, weights->zero, y.scale, y.zero};
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      const ValueId bias = integer_bias(graph_, node.inputs[2], *x, *weights);
      if (bias == kNoValue) return std::nullopt;
      joined.inputs.push_back(bias);
    }
    return joined;
  }

  /// Whether several scales of a right operand are one for each column.
  bool by_column(const Quantized& b, bool transposed) const {
    if (b.whole()) return true;
    const Tensor& weights = graph_.value(b.bytes).constant;
    if (weights.rank() != 2) return false;
    const int64_t axis = b.axis < 0 ? b.axis + 2 : b.axis;
    return axis == (transposed ? 0 : 1);
  }

  std::optional<Node> join_matmul(const Node& node, const Quantized& y) const {
    const auto a = dequantized(graph_, node.inputs[0]), b = dequantized(graph_, node.inputs[1]);
    if (!a || !a->whole() || !b || !by_column(*b, false)) return std::nullopt;
    Node joined = made("", "QLinearMatMul", kQLinearVersion, {});
    joined.inputs = {a->bytes, a->scale, a->zero, b->bytes, b->scale, b->zero, y.scale, y.zero};
    return joined;
  }

  std::optional<Node> join_gemm(const Node& node, const Quantized& y) const {
    const auto a = dequantized(graph_, node.inputs[0]), b = dequantized(graph_, node.inputs[1]);
    const int64_t transposes = attribute_or<int64_t>(node.attributes, "transB", 0);
    if (!a || !a->whole() || !b || !by_column(*b, transposes != 0)) return std::nullopt;
    if (attribute_or<float>(node.attributes, "alpha", 1.0F) != 1.0F ||
        attribute_or<float>(node.attributes, "beta", 1.0F) != 1.0F)
      return std::nullopt;
    Node joined = made(kContrib, "QGemm", 1, {});
    joined.attributes["transA"] = attribute_or<int64_t>(node.attributes, "transA", 0);
    joined.attributes["transB"] = transposes;
    ValueId bias = kNoValue;
    if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
      bias = integer_bias(graph_, node.inputs[2], *a, *b);
      if (bias == kNoValue || graph_.value(bias).constant.rank() != 1) return std::nullopt;
    }
    joined.inputs = {a->bytes, a->scale, a->zero, b->bytes, b->scale, b->zero, bias, y.scale, y.zero};
    return joined;
  }

  std::optional<Node> join_binary(const Node& node, const Quantized& y, const char* op) const {
    const auto a = dequantized(graph_, node.inputs[0]), b = dequantized(graph_, node.inputs[1]);
    if (!a || !b || !a->whole() || !b->whole()) return std::nullopt;
    if (a->zeros->dtype() != y.zeros->dtype() || b->zeros->dtype() != y.zeros->dtype()) return std::nullopt;
    Node joined = made(kContrib, op, 1, {});
    joined.inputs = {a->bytes, a->scale, a->zero, b->bytes, b->scale, b->zero, y.scale, y.zero};
    return joined;
  }

  std::optional<Node> join_average(const Node& node, const Quantized& y) const {
    const auto x = dequantized(graph_, node.inputs[0]);
    if (!x || !x->whole() || x->zeros->dtype() != y.zeros->dtype()) return std::nullopt;
    if (node.attributes.count("dilations")) return std::nullopt;
    Node joined = made(kContrib, "QLinear" + node.op, 1, node.attributes);
    joined.attributes["channels_last"] = int64_t{0};
    joined.inputs = {x->bytes, x->scale, x->zero, y.scale, y.zero};
    return joined;
  }

  /// Operators that take elements from one place to another do the same to bytes of the same scale and zero point.
  std::optional<Node> join_movement(const Node& node, const Quantized& y) const {
    constexpr std::string_view kMoves[] = {"MaxPool", "Reshape",   "Flatten", "Transpose", "Squeeze",
                                           "Slice",   "Unsqueeze", "Gather",  "Expand"};
    constexpr int kByteMaxPool = 12;  // before it, pooling took floats only
    const bool joins = is_op(node, "Concat");
    if (!node.domain.empty() ||
        (!joins && std::find(std::begin(kMoves), std::end(kMoves), node.op) == std::end(kMoves)))
      return std::nullopt;
    if (node.op == "MaxPool" && node.version < kByteMaxPool) return std::nullopt;
    Node joined = node;
    for (size_t i = 0; i < (joins ? node.inputs.size() : 1); ++i) {
      const auto x = dequantized(graph_, node.inputs[i]);
      if (!x || !same_parameters(*x, y)) return std::nullopt;
      joined.inputs[i] = x->bytes;
    }
    return joined;
  }

  Graph& graph_;
  Uses uses_;
};

}  // namespace

int compute_in_bytes(Graph& graph) { return Joiner(graph).run(); }

}  // namespace attune::rewrite
