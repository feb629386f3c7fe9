#include "rewrite/turn_gemm_into_matmul.h"

#include "ops/convert.h"
#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

/// out[c][r] = in[r][c] * factor, a square at a time: rows and columns of it stay in the cache.
void turn(const float* in, int64_t rows, int64_t columns, float factor, float* out) {
  constexpr int64_t kSquare = 32;
  for (int64_t r = 0; r < rows; r += kSquare)
    for (int64_t c = 0; c < columns; c += kSquare)
      for (int64_t i = r; i < std::min(rows, r + kSquare); ++i)
        for (int64_t j = c; j < std::min(columns, c + kSquare); ++j) out[j * rows + i] = in[i * columns + j] * factor;
}

/// What can be read again from the model's file is computed again too: packed for a kernel, it is not kept in memory.
Tensor turned(const Tensor& tensor, float factor) {
  const auto fill = [tensor, factor](std::byte* bytes) {
    const Tensor source = tensor.held();
    turn(source.data<float>(), tensor.dim(0), tensor.dim(1), factor, reinterpret_cast<float*>(bytes));
    tensor.release_pages();
  };
  Dims dims = {tensor.dim(1), tensor.dim(0)};
  if (tensor.reloadable()) return Tensor::computed(DType::f32, std::move(dims), fill);
  Tensor result = Tensor::allocate(DType::f32, std::move(dims));
  fill(result.mutable_bytes());
  return result;
}

/// Constant times a number, transposed when asked; the tensor itself when nothing changes.
Tensor scaled(const Tensor& tensor, float factor, bool transpose) {
  if (factor == 1.0f && !transpose) return tensor;
  if (transpose && tensor.dtype() == DType::f32) return turned(tensor, factor);
  const Tensor wide = convert(tensor.held(), DType::f64);
  const double* src = wide.data<double>();
  Tensor result = Tensor::allocate(DType::f64, transpose ? Dims{tensor.dim(1), tensor.dim(0)} : tensor.dims());
  double* dst = result.mutable_data<double>();
  if (!transpose) {
    for (int64_t i = 0; i < tensor.count(); ++i) dst[i] = src[i] * factor;
  } else {
    const int64_t rows = tensor.dim(0), columns = tensor.dim(1);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) dst[c * rows + r] = src[r * columns + c] * factor;
  }
  return convert(result, tensor.dtype());
}

bool fits(const Graph& graph, const GraphFacts& facts, const Node& node) {
  if (!node.domain.empty() || node.op != "Gemm" || node.inputs.size() < 2) return false;
  const Tensor* weights = constant_input(graph, node, 1);
  if (weights == nullptr || weights->rank() != 2 || !is_float(weights->dtype()) ||
      attribute_or<int64_t>(node.attributes, "transA", 0) != 0)
    return false;
  // MatMul takes more than Gemm does: what Gemm would refuse must not slip through.
  const auto& rows = facts.types[static_cast<size_t>(node.inputs[0])].shape;
  if (!rows || rows->size() != 2) return false;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  return !has_bias || constant_input(graph, node, 2) != nullptr ||
         attribute_or<float>(node.attributes, "beta", 1.0f) == 1.0f;
}

}  // namespace

int turn_gemm_into_matmul(Graph& graph) {
  GraphFacts facts;
  try {
    facts = infer_graph(graph);
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
  std::vector<Node> nodes;
  int changes = 0;
  for (Node& node : graph.nodes()) {
    if (!fits(graph, facts, node)) {
      nodes.push_back(node);
      continue;
    }
    ++changes;
    const Tensor& weights = *constant_input(graph, node, 1);
    const std::string& weights_name = graph.value(node.inputs[1]).name;
    Node product;
    product.name = node.name;
    product.op = "MatMul";
    product.version = node.version;
    product.inputs = {node.inputs[0],
                      graph.add_constant(weights_name + "_matmul",
                                         scaled(weights, attribute_or<float>(node.attributes, "alpha", 1.0f),
                                                attribute_or<int64_t>(node.attributes, "transB", 0) != 0))};
    weights.release_pages();  // read for the last time, most likely
    product.outputs = node.outputs;
    if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) {
      nodes.push_back(std::move(product));
      continue;
    }
    Value between;
    between.name = graph.value(node.outputs[0]).name + "_product";
    product.outputs = {graph.add_value(std::move(between))};
    Node add;
    add.name = node.name + "_bias";
    add.op = "Add";
    add.version = std::max(node.version, 7);
    ValueId bias = node.inputs[2];
    if (const Tensor* constant = constant_input(graph, node, 2))
      bias = graph.add_constant(graph.value(bias).name + "_scaled",
                                scaled(*constant, attribute_or<float>(node.attributes, "beta", 1.0f), false));
    add.inputs = {product.outputs[0], bias};
    add.outputs = node.outputs;
    nodes.push_back(std::move(product));
    nodes.push_back(std::move(add));
  }
  if (changes > 0) graph.set_nodes(std::move(nodes));
  return changes;
}

}  // namespace attune::rewrite
