#include "onnx/export_graph.h"

#include "onnx/element_type.h"

namespace attune::onnx_io {
namespace {

std::string unique_name(const std::string& wanted, std::set<std::string>& taken) {
  std::string name = wanted;
  for (int suffix = 1; !taken.insert(name).second; ++suffix) name = wanted + "_" + std::to_string(suffix);
  return name;
}

void export_type(const Value& value, const std::string& name, onnx::ValueInfoProto& proto) {
  proto.set_name(name);
  auto& tensor = *proto.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(to_onnx_type(value.dtype));
  if (!value.shape) return;
  auto& shape = *tensor.mutable_shape();
  for (const Dim& dim : *value.shape) {
    auto& out = *shape.add_dim();
    if (dim.is_known())
      out.set_dim_value(dim.value());
    else if (dim.is_symbolic())
      out.set_dim_param(dim.text());
  }
}

struct AttributeWriter {
  const ExportNames& names;
  std::set<std::string>& taken;
  onnx::AttributeProto& out;
  using Proto = onnx::AttributeProto;

  void operator()(int64_t value) const {
    out.set_type(Proto::INT);
    out.set_i(value);
  }
  void operator()(float value) const {
    out.set_type(Proto::FLOAT);
    out.set_f(value);
  }
  void operator()(const std::string& value) const {
    out.set_type(Proto::STRING);
    out.set_s(value);
  }
  void operator()(const Tensor& value) const {
    out.set_type(Proto::TENSOR);
    export_tensor(value, "", *out.mutable_t());
  }
  void operator()(const std::vector<int64_t>& values) const {
    out.set_type(Proto::INTS);
    for (const int64_t value : values) out.add_ints(value);
  }
  void operator()(const std::vector<float>& values) const {
    out.set_type(Proto::FLOATS);
    for (const float value : values) out.add_floats(value);
  }
  void operator()(const std::vector<std::string>& values) const {
    out.set_type(Proto::STRINGS);
    for (const std::string& value : values) out.add_strings(value);
  }
  void operator()(const std::vector<Tensor>& values) const {
    out.set_type(Proto::TENSORS);
    for (const Tensor& value : values) export_tensor(value, "", *out.add_tensors());
  }
  void operator()(const std::shared_ptr<Graph>& body) const {
    out.set_type(Proto::GRAPH);
    const ExportNames inner = export_names(*body, &names, taken);
    export_graph(*body, inner, taken, *out.mutable_g());
    for (size_t i = 0; i < body->values().size(); ++i) {
      const Value& value = body->values()[i];
      if (value.is_constant())
        export_tensor(value.constant, inner.at(static_cast<ValueId>(i)), *out.mutable_g()->add_initializer());
    }
  }
};

void check_version(const Graph& graph, const Node& node) {
  const auto opset = graph.opsets.find(node.domain);
  if (opset == graph.opsets.end() || opset->second != node.version)
    throw UnsupportedError("node '{}' ({}) is of opset {}, but a model file has one opset for each domain ({} here)",
                           node.name, node.op, node.version,
                           opset == graph.opsets.end() ? "none" : std::to_string(opset->second));
}

}  // namespace

ExportNames export_names(const Graph& graph, const ExportNames* outer, std::set<std::string>& taken) {
  ExportNames names;
  for (const Capture& capture : graph.captures) names[capture.inner] = outer->at(capture.outer);
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!names.count(id)) names[id] = unique_name(graph.value(id).name, taken);
  }
  return names;
}

void export_graph(const Graph& graph, const ExportNames& names, std::set<std::string>& taken, onnx::GraphProto& proto) {
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  for (const ValueId id : graph.inputs) export_type(graph.value(id), names.at(id), *proto.add_input());
  for (const ValueId id : graph.outputs) export_type(graph.value(id), names.at(id), *proto.add_output());
  const auto name_of = [&](ValueId id) { return id == kNoValue ? std::string() : names.at(id); };
  for (const Node& node : graph.nodes()) {
    check_version(graph, node);
    auto& out = *proto.add_node();
    out.set_name(node.name);
    out.set_op_type(node.op);
    out.set_domain(node.domain);
    for (const ValueId id : node.inputs) out.add_input(name_of(id));
    for (const ValueId id : node.outputs) out.add_output(name_of(id));
    for (const auto& [name, attribute] : node.attributes) {
      auto& written = *out.add_attribute();
      written.set_name(name);
      std::visit(AttributeWriter{names, taken, written}, attribute);
    }
  }
}

void export_tensor_header(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto) {
  proto.set_name(name);
  proto.set_data_type(to_onnx_type(tensor.dtype()));
  for (const int64_t dim : tensor.dims()) proto.add_dims(dim);
}

void export_tensor(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto) {
  export_tensor_header(tensor, name, proto);
  proto.set_raw_data(tensor.bytes(), static_cast<size_t>(tensor.size_bytes()));
}

}  // namespace attune::onnx_io
