#include "rewrite/merge_projections.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <algorithm>
#include <cstring>

namespace attune::rewrite {
namespace {

/// x * weights + bias, as two nodes or one.
struct Projection {
  NodeId product = kNoNode, sum = kNoNode;  // no sum: there is no bias
  ValueId input = kNoValue, weights = kNoValue, bias = kNoValue, result = kNoValue;
};

/// Matrices of equal height, or vectors, side by side. What can be read again from the model's file is joined again
/// when needed: packed for a kernel, the whole is not kept beside it.
Tensor side_by_side(std::vector<Tensor> parts) {
  const DType dtype = parts.front().dtype();
  const bool matrix = parts.front().rank() == 2;
  const int64_t rows = matrix ? parts.front().dim(0) : 1, element = bit_width(dtype) / 8;
  int64_t columns = 0;
  for (const Tensor& part : parts) columns += part.dim(part.rank() - 1);
  const Dims dims = matrix ? Dims{rows, columns} : Dims{columns};
  const bool reloadable = matrix && std::ranges::all_of(parts, &Tensor::reloadable);
  const auto fill = [parts = std::move(parts), rows, columns, element](std::byte* out) {
    int64_t before = 0;
    for (const Tensor& part : parts) {
      const Tensor held = part.held();
      const int64_t bytes = part.dim(part.rank() - 1) * element;
      for (int64_t row = 0; row < rows; ++row)
        std::memcpy(out + row * columns * element + before, held.bytes() + row * bytes, static_cast<size_t>(bytes));
      before += bytes;
      part.release_pages();
    }
  };
  if (reloadable) return Tensor::computed(dtype, dims, fill);
  Tensor joined = Tensor::allocate(dtype, dims);
  fill(joined.mutable_bytes());
  return joined;
}

class Merger {
 public:
  Merger(Graph& graph, const LeftAlone& left_alone)
      : graph_(graph),
        left_alone_(left_alone),
        facts_(infer_graph(graph)),
        uses_(graph),
        removed_(graph.nodes().size(), false) {}

  Places run() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (node.domain == "attune" && node.op == "FusedAttention") merge(static_cast<NodeId>(i));
    }
    if (!places_.empty()) erase_nodes(graph_, removed_);
    return std::move(places_);
  }

 private:
  /// The projection that a value is, when only one node reads it.
  std::optional<Projection> projection_of(ValueId value) const {
    Projection found;
    found.result = value;
    const auto& shape = facts_.types[static_cast<size_t>(value)].shape;
    if (!shape || shape->size() != 3 || uses_.count(value) != 1) return std::nullopt;
    NodeId producer = graph_.value(value).producer;
    if (producer == kNoNode) return std::nullopt;
    if (const Node& sum = graph_.node(producer); sum.domain.empty() && sum.op == "Add") {
      const size_t at = constant_input(graph_, sum, 1) != nullptr ? 1 : 0;
      const Tensor* bias = constant_input(graph_, sum, at);
      if (bias == nullptr || bias->rank() != 1) return std::nullopt;
      found.sum = producer;
      found.bias = sum.inputs[at];
      producer = graph_.value(sum.inputs[1 - at]).producer;
      if (producer == kNoNode || uses_.count(sum.inputs[1 - at]) != 1) return std::nullopt;
    }
    const Node& product = graph_.node(producer);
    const Tensor* weights = constant_input(graph_, product, 1);
    if (!product.domain.empty() || product.op != "MatMul" || weights == nullptr || weights->rank() != 2 ||
        constant_input(graph_, product, 0) != nullptr)
      return std::nullopt;
    found.product = producer;
    found.input = product.inputs[0];
    found.weights = product.inputs[1];
    if (found.bias != kNoValue && graph_.value(found.bias).constant.dim(0) != weights->dim(1)) return std::nullopt;
    return found;
  }

  bool fit_together(const std::vector<Projection>& parts) const {
    return std::ranges::all_of(parts, [&](const Projection& part) {
      return part.input == parts[0].input && (part.sum == kNoNode) == (parts[0].sum == kNoNode) &&
             graph_.value(part.weights).constant.dtype() == graph_.value(parts[0].weights).constant.dtype();
    });
  }

  ValueId joined_constant(const std::vector<Projection>& parts, ValueId Projection::*which) {
    std::vector<Tensor> tensors;
    for (const Projection& part : parts) tensors.push_back(graph_.value(part.*which).constant);
    return graph_.add_constant(graph_.value(parts[0].*which).name + "_joined", side_by_side(std::move(tensors)));
  }

  void merge(NodeId at) {
    if (left_alone_.count(graph_.node(at).name) > 0) return;
    const std::vector<ValueId> inputs = graph_.node(at).inputs;
    if (inputs[0] == inputs[1] || inputs[1] == inputs[2] || inputs[0] == inputs[2]) return;
    std::vector<Projection> parts;
    for (size_t i = 0; i < 3; ++i) {
      const auto part = projection_of(inputs[i]);
      if (!part) return;
      parts.push_back(*part);
    }
    if (!fit_together(parts)) return;
    const Projection& first = parts[0];
    const bool has_bias = first.sum != kNoNode;
    const ValueId result = new_value(graph_.value(first.result).name + "_joined");
    Node product = graph_.node(first.product);
    product.inputs = {first.input, joined_constant(parts, &Projection::weights)};
    product.outputs = {has_bias ? new_value(graph_.value(first.result).name + "_product") : result};
    Node sum;
    if (has_bias) {
      sum = graph_.node(first.sum);
      sum.inputs = {product.outputs[0], joined_constant(parts, &Projection::bias)};
      sum.outputs = {result};
    }
    Place place{.anchor = part_of(graph_.node(at)), .parts = {}, .is_chain = false};
    std::vector<int64_t> columns = attribute_or<std::vector<int64_t>>(graph_.node(at).attributes, "columns", {0, 0, 0});
    int64_t before = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      columns[i] += before;
      before += graph_.value(parts[i].weights).constant.dim(1);
      for (const NodeId id : {parts[i].product, parts[i].sum})
        if (id != kNoNode) place.parts.push_back(part_of(graph_.node(id)));
      removed_[static_cast<size_t>(parts[i].product)] = true;
      if (has_bias) removed_[static_cast<size_t>(parts[i].sum)] = true;
      graph_.node(at).inputs[i] = result;
    }
    graph_.node(at).attributes["columns"] = std::move(columns);
    // Where the first of the parts stood: what they read is there already.
    put(std::ranges::min(parts, {}, &Projection::product).product, std::move(product));
    if (has_bias) put(std::ranges::min(parts, {}, &Projection::sum).sum, std::move(sum));
    places_.push_back(std::move(place));
  }

  ValueId new_value(std::string name) {
    Value value;
    value.name = std::move(name);
    return graph_.add_value(std::move(value));
  }

  void put(NodeId at, Node node) {
    graph_.node(at) = std::move(node);
    removed_[static_cast<size_t>(at)] = false;
  }

  Graph& graph_;
  const LeftAlone& left_alone_;
  GraphFacts facts_;
  Uses uses_;
  std::vector<bool> removed_;
  Places places_;
};

}  // namespace

Places merge_projections(Graph& graph, const LeftAlone& left_alone) {
  try {
    return Merger(graph, left_alone).run();
  } catch (const UserError&) {
    return {};  // a body for other shapes: left as it is
  }
}

}  // namespace attune::rewrite
