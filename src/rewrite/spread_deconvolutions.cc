#include "rewrite/spread_deconvolutions.h"

#include "ops/convert.h"
#include "ops/node_traits.h"
#include "ops/vector_program.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

using Ints = std::vector<int64_t>;

constexpr int kConvOpset = 11, kSpreadOpset = 13;
constexpr size_t kWeights = 1, kBias = 2;

/// The side of the square that each pixel becomes; nothing for other deconvolutions.
std::optional<int64_t> side_of(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.op != "ConvTranspose") return std::nullopt;
  const Tensor* weights = constant_input(graph, node, kWeights);
  if (weights == nullptr || weights->rank() != 4 || !is_float(weights->dtype()) || weights->dim(2) != weights->dim(3) ||
      weights->dim(2) < 2)
    return std::nullopt;
  const bool has_bias = node.inputs.size() > kBias && node.inputs[kBias] != kNoValue;
  if (has_bias && constant_input(graph, node, kBias) == nullptr) return std::nullopt;
  const bool plain = attribute_or<std::string>(node.attributes, "auto_pad", "NOTSET") == "NOTSET" &&
                     attribute_or<int64_t>(node.attributes, "group", 1) == 1 && has_only(node.attributes, "pads", 0) &&
                     has_only(node.attributes, "output_padding", 0) && has_only(node.attributes, "dilations", 1) &&
                     node.attributes.count("output_shape") == 0;
  const Ints strides = attribute_or<Ints>(node.attributes, "strides", {1, 1});
  const int64_t side = weights->dim(2);
  if (!plain || std::ranges::any_of(strides, [&](int64_t stride) { return stride != side; })) return std::nullopt;
  return side;
}

/// From [in, out, side, side] to [side, side, out, in, 1, 1]: the order in which DepthToSpace finds the pixels.
Tensor spread_weights(const Tensor& weights) {
  const Tensor wide = convert(weights.held(), DType::f64);
  const int64_t in = weights.dim(0), out = weights.dim(1), square = weights.dim(2) * weights.dim(3);
  Tensor result = Tensor::allocate(DType::f64, {square * out, in, 1, 1});
  double* to = result.mutable_data<double>();
  for (int64_t pixel = 0; pixel < square; ++pixel)
    for (int64_t o = 0; o < out; ++o)
      for (int64_t i = 0; i < in; ++i) *to++ = wide.data<double>()[(i * out + o) * square + pixel];
  return convert(result, weights.dtype());
}

Tensor repeated(const Tensor& bias, int64_t times) {
  const Tensor wide = convert(bias.held(), DType::f64);
  Tensor result = Tensor::allocate(DType::f64, {times * bias.count()});
  for (int64_t i = 0; i < result.count(); ++i) result.mutable_data<double>()[i] = wide.data<double>()[i % bias.count()];
  return convert(result, bias.dtype());
}

/// A function of single elements without other operands does the same before the pixels are spread.
bool is_unary(const Node& node) {
  return node.domain.empty() && node.outputs.size() == 1 && node.inputs.size() == 1 && has_vector_step(node.op, 1) &&
         !VectorStep{node.op, {}, {}}.looks_at_rows();
}

class Spreader {
 public:
  explicit Spreader(Graph& graph) : graph_(graph), uses_(graph) {}

  int run() {
    const std::vector<Node> nodes = graph_.nodes();
    std::vector<bool> done(nodes.size(), false);
    int changes = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done[i]) continue;
      const auto side = side_of(graph_, nodes[i]);
      if (!side) {
        nodes_.push_back(nodes[i]);
        continue;
      }
      ++changes;
      ValueId spread = nodes[i].outputs[0], last = fresh(spread);
      push_product(nodes[i], *side, last);
      for (NodeId reader = uses_.only_reader(spread); reader != kNoNode && is_unary(graph_.node(reader));
           reader = uses_.only_reader(spread)) {
        done[static_cast<size_t>(reader)] = true;
        Node activation = graph_.node(reader);
        spread = activation.outputs[0];
        activation.inputs = {last};
        last = fresh(spread);
        activation.outputs = {last};
        nodes_.push_back(std::move(activation));
      }
      push_spread(nodes[i].name, *side, last, spread);
    }
    if (changes > 0) graph_.set_nodes(std::move(nodes_));
    return changes;
  }

 private:
  ValueId fresh(ValueId spread) {
    Value value;
    value.name = graph_.value(spread).name + "_deep";
    return graph_.add_value(std::move(value));
  }

  void push_product(const Node& node, int64_t side, ValueId result) {
    Node conv;
    conv.name = node.name;
    conv.op = "Conv";
    conv.version = kConvOpset;
    const std::string& name = graph_.value(node.inputs[kWeights]).name;
    conv.inputs = {node.inputs[0],
                   graph_.add_constant(name + "_spread", spread_weights(*constant_input(graph_, node, kWeights)))};
    if (const Tensor* bias = constant_input(graph_, node, kBias))
      conv.inputs.push_back(graph_.add_constant(name + "_spread_bias", repeated(*bias, side * side)));
    conv.outputs = {result};
    nodes_.push_back(std::move(conv));
  }

  void push_spread(const std::string& name, int64_t side, ValueId from, ValueId to) {
    Node node;
    node.name = name + "_spread";
    node.op = "DepthToSpace";
    node.version = kSpreadOpset;
    node.inputs = {from};
    node.outputs = {to};
    node.attributes = {{"blocksize", side}, {"mode", std::string("DCR")}};
    nodes_.push_back(std::move(node));
  }

  Graph& graph_;
  Uses uses_;
  std::vector<Node> nodes_;
};

}  // namespace

int spread_deconvolutions(Graph& graph) { return Spreader(graph).run(); }

}  // namespace attune::rewrite
