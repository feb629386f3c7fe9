#include "zoo/builder.h"

namespace attune::zoo {
namespace {

/// The module path "layer1.0.conv1" as exporters write it before a node's name: "/layer1.0/conv1/".
std::string node_prefix(std::string_view path) {
  std::string result = "/";
  for (size_t i = 0; i < path.size(); ++i) {
    const bool names_a_child = path[i] == '.' && !(i + 1 < path.size() && path[i + 1] >= '0' && path[i + 1] <= '9');
    result += names_a_child ? '/' : path[i];
  }
  if (!path.empty()) result += '/';
  return result;
}

}  // namespace

GraphBuilder::GraphBuilder(std::string name, uint64_t seed) : seed_(seed) {
  graph_.name = std::move(name);
  graph_.opsets[""] = kOpset;
}

GraphBuilder::Scope::Scope(GraphBuilder& builder, std::string_view module)
    : builder_(builder), length_(builder.path_.size()) {
  if (length_ > 0) builder_.path_ += '.';
  builder_.path_ += module;
}

void GraphBuilder::output(ValueId value, std::string name, DType dtype, Shape shape) {
  graph_.value(value).dtype = dtype;
  graph_.value(value).shape = std::move(shape);
  graph_.outputs.push_back(value);
  renamed_[value] = std::move(name);
}

Graph GraphBuilder::finish() && {
  Graph result;  // values are indexed by name as they are added, so the outputs' names come with a new graph
  result.name = graph_.name;
  result.opsets = graph_.opsets;
  for (size_t i = 0; i < graph_.values().size(); ++i) {
    Value value = graph_.values()[i];
    if (const auto renamed = renamed_.find(static_cast<ValueId>(i)); renamed != renamed_.end())
      value.name = renamed->second;
    result.add_value(std::move(value));
  }
  result.inputs = graph_.inputs;
  result.outputs = graph_.outputs;
  result.set_nodes(std::move(graph_.nodes()));
  return result;
}

std::string GraphBuilder::parameter_name(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + '.' + std::string(name);
}

std::string GraphBuilder::node_name(std::string_view op) {
  const std::string name = node_prefix(path_) + std::string(op);
  const int count = used_[name]++;
  return count == 0 ? name : name + '_' + std::to_string(count);
}

Tensor GraphBuilder::draw(std::string_view name, Dims dims, const Init& init) const {
  return random_weights(std::move(dims), init, seed_, parameter_name(name));
}

ValueId GraphBuilder::parameter(std::string_view name, Dims dims, const Init& init) {
  return named(name, draw(name, std::move(dims), init));
}

ValueId GraphBuilder::named(std::string_view name, Tensor tensor) {
  return graph_.add_constant(parameter_name(name), std::move(tensor));
}

ValueId GraphBuilder::literal(Tensor tensor) {
  return graph_.add_constant(node_name("Constant") + "_output_0", std::move(tensor));
}

ValueId GraphBuilder::op(std::string_view op_name, std::vector<ValueId> inputs, Attributes attributes) {
  return op(op_name, std::move(inputs), std::move(attributes), 1).front();
}

std::vector<ValueId> GraphBuilder::op(std::string_view op_name, std::vector<ValueId> inputs, Attributes attributes,
                                      int outputs) {
  Node node;
  node.name = node_name(op_name);
  node.op = op_name;
  node.version = kOpset;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (int i = 0; i < outputs; ++i) {
    Value value;
    value.name = node.name + "_output_" + std::to_string(i);
    node.outputs.push_back(graph_.add_value(std::move(value)));
  }
  std::vector<ValueId> results = node.outputs;
  graph_.add_node(std::move(node));
  return results;
}

std::vector<ValueId> GraphBuilder::split(ValueId x, std::initializer_list<int64_t> sizes, int64_t axis) {
  return op("Split", {x, ints(sizes)}, {{"axis", axis}}, static_cast<int>(sizes.size()));
}

ValueId GraphBuilder::size_of(ValueId x, int64_t axis) {
  const ValueId size = gather({op("Shape", {x}), index(axis)}, 0);
  return op("Unsqueeze", {size, ints({0})});
}

}  // namespace attune::zoo
