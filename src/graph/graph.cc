#include "graph/graph.h"

#include "base/error.h"

namespace attune {

std::string_view layout_name(Layout layout) {
  switch (layout) {
    case Layout::plain: return "plain";
    case Layout::nhwc: return "nhwc";
    case Layout::nchw8c: return "nchw8c";
    case Layout::nchw16c: return "nchw16c";
  }
  return "?";
}

std::string_view attribute_kind(const Attribute& attribute) {
  constexpr std::string_view kNames[] = {"int",    "float",   "string",  "tensor", "ints",
                                         "floats", "strings", "tensors", "graph"};
  static_assert(std::size(kNames) == std::variant_size_v<Attribute>);
  return kNames[attribute.index()];
}

ValueId Graph::add_value(Value value) {
  if (value.name.empty()) value.name = "v" + std::to_string(values_.size());
  if (by_name_.count(value.name)) {
    int suffix = 1;
    std::string unique;
    do unique = value.name + "_" + std::to_string(suffix++);
    while (by_name_.count(unique));
    value.name = std::move(unique);
  }
  const auto id = static_cast<ValueId>(values_.size());
  by_name_.emplace(value.name, id);
  values_.push_back(std::move(value));
  return id;
}

ValueId Graph::add_input(std::string input_name, DType dtype, std::optional<Shape> shape) {
  Value value;
  value.name = std::move(input_name);
  value.dtype = dtype;
  value.shape = std::move(shape);
  inputs.push_back(add_value(std::move(value)));
  return inputs.back();
}

ValueId Graph::add_constant(std::string constant_name, Tensor tensor) {
  Value value;
  value.name = std::move(constant_name);
  value.dtype = tensor.dtype();
  value.shape = to_shape(tensor.dims());
  value.constant = std::move(tensor);
  return add_value(std::move(value));
}

NodeId Graph::add_node(Node node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  if (node.name.empty()) node.name = node.op + "_" + std::to_string(id);
  for (const ValueId output : node.outputs)
    if (output != kNoValue) value(output).producer = id;
  nodes_.push_back(std::move(node));
  return id;
}

std::optional<ValueId> Graph::find_value(std::string_view value_name) const {
  const auto found = by_name_.find(value_name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

void Graph::set_nodes(std::vector<Node> nodes) {
  for (Value& value : values_) value.producer = kNoNode;
  nodes_ = std::move(nodes);
  for (size_t i = 0; i < nodes_.size(); ++i)
    for (const ValueId output : nodes_[i].outputs)
      if (output != kNoValue) value(output).producer = static_cast<NodeId>(i);
}

}  // namespace attune
