#include "rewrite/center_weights.h"

#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

struct Product {
  std::string_view domain, op;
  size_t weights, zero;  // among the inputs
  bool convolves;
};
constexpr Product kProducts[] = {
    {"", "QLinearConv", 3, 5, true},
    {"", "ConvInteger", 1, 3, true},
    {"", "QLinearMatMul", 3, 5, false},
    {"", "MatMulInteger", 1, 3, false},
    {"com.microsoft", "QGemm", 3, 5, false},
    {"com.microsoft", "MatMulIntegerToFloat", 1, 5, false},
    {"com.microsoft", "DynamicQuantizeMatMul", 1, 3, false},
};

int byte_at(const Tensor& tensor, int64_t i) {
  return tensor.dtype() == DType::i8 ? static_cast<int>(tensor.data<int8_t>()[i])
                                     : static_cast<int>(tensor.data<uint8_t>()[i]);
}

/// Elements that share a zero point, and how many of those there are before they repeat.
struct Spread {
  int64_t run = 1, count = 1;
  int64_t index(int64_t i) const { return i / run % count; }
};

std::optional<Spread> spread_of(const Product& product, const Node& node, const Tensor& weights, const Tensor& zero) {
  if (zero.count() == 1) return Spread{1, 1};
  if (zero.rank() != 1 || weights.rank() < 2) return std::nullopt;
  const bool transposed = attribute_or<int64_t>(node.attributes, "transB", 0) != 0;
  const bool by_row = product.convolves || transposed;
  if (!product.convolves && weights.rank() != 2) return std::nullopt;
  if (zero.count() != (by_row ? weights.dim(0) : weights.dim(1)) || zero.count() == 0) return std::nullopt;
  return Spread{by_row ? weights.count() / weights.dim(0) : 1, zero.count()};
}

/// The weights less their zero points; nothing when one does not fit.
std::optional<Tensor> centered(const Tensor& weights, const Tensor& zero, const Spread& spread) {
  Tensor result = Tensor::allocate(DType::i8, weights.dims());
  for (int64_t i = 0; i < weights.count(); ++i) {
    const int value = byte_at(weights, i) - byte_at(zero, spread.index(i));
    if (value < -128 || value > 127) return std::nullopt;
    result.mutable_data<int8_t>()[i] = static_cast<int8_t>(value);
  }
  return result;
}

bool center(Graph& graph, const Product& product, Node& node) {
  const Tensor* weights = constant_input(graph, node, product.weights);
  const Tensor* zero = constant_input(graph, node, product.zero);
  if (weights == nullptr || zero == nullptr || weights->count() == 0) return false;
  if ((weights->dtype() != DType::i8 && weights->dtype() != DType::u8) || zero->dtype() != weights->dtype())
    return false;
  const auto* bytes = zero->bytes();
  const bool is_zero = std::all_of(bytes, bytes + zero->count(), [](std::byte b) { return b == std::byte{0}; });
  if (is_zero && weights->dtype() == DType::i8) return false;
  const auto spread = spread_of(product, node, *weights, *zero);
  if (!spread) return false;
  auto result = centered(*weights, *zero, *spread);
  if (!result) return false;
  const Dims zero_dims = zero->dims();
  const std::string weights_name = graph.value(node.inputs[product.weights]).name;
  const std::string zero_name = graph.value(node.inputs[product.zero]).name;
  node.inputs[product.weights] = graph.add_constant(weights_name + "_centered", std::move(*result));
  node.inputs[product.zero] = graph.add_constant(zero_name + "_centered", Tensor::zeros(DType::i8, zero_dims));
  return true;
}

}  // namespace

int center_weights(Graph& graph) {
  int changes = 0;
  for (Node& node : graph.nodes())
    for (const Product& product : kProducts)
      if (node.domain == product.domain && node.op == product.op) changes += center(graph, product, node) ? 1 : 0;
  return changes;
}

}  // namespace attune::rewrite
