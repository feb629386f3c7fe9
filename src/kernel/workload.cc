#include "kernel/workload.h"

#include "base/hash.h"

#include <algorithm>

namespace attune {
namespace {

std::string tensor_text(const Tensor& tensor) {
  const auto bytes = std::span(tensor.bytes(), static_cast<size_t>(tensor.size_bytes()));
  return fmt::format("{}[{}]#{:016x}", dtype_name(tensor.dtype()), to_text(tensor.dims()), hash_bytes(bytes));
}

std::string attribute_text(const Attribute& attribute) {
  const auto list = [](const auto& values) {
    std::string out = "[";
    for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + fmt::format("{}", values[i]);
    return out + "]";
  };
  if (const auto* value = std::get_if<int64_t>(&attribute)) return std::to_string(*value);
  if (const auto* value = std::get_if<float>(&attribute)) return fmt::format("{}", *value);
  if (const auto* value = std::get_if<std::string>(&attribute)) return *value;
  if (const auto* value = std::get_if<std::vector<int64_t>>(&attribute)) return list(*value);
  if (const auto* value = std::get_if<std::vector<float>>(&attribute)) return list(*value);
  if (const auto* value = std::get_if<std::vector<std::string>>(&attribute)) return list(*value);
  // Contents belong to what an operator computes: a table of labels, the splits of a tree.
  if (const auto* value = std::get_if<Tensor>(&attribute)) return tensor_text(*value);
  if (const auto* values = std::get_if<std::vector<Tensor>>(&attribute)) {
    std::string out;
    for (const Tensor& value : *values) out += (out.empty() ? "" : ", ") + tensor_text(value);
    return "[" + out + "]";
  }
  return std::string(attribute_kind(attribute));
}

int64_t channel_block(Layout layout) { return layout == Layout::nchw8c ? 8 : layout == Layout::nchw16c ? 16 : 1; }

}  // namespace

std::optional<int64_t> storage_bytes(const TensorSpec& spec) {
  Dims dims = spec.dims;
  const int64_t block = channel_block(spec.layout);
  if (block > 1 && dims.size() > 1) dims[1] = (dims[1] + block - 1) / block * block;
  const auto count = checked_count(dims);
  return count ? byte_size(spec.dtype, *count) : std::nullopt;
}

std::string to_text(const std::optional<TensorSpec>& spec) {
  if (!spec) return "_";
  std::string out = fmt::format("{}[{}]", dtype_name(spec->dtype), to_text(spec->dims));
  if (spec->layout != Layout::plain) out += "@" + std::string(layout_name(spec->layout));
  if (spec->constant) out += spec->zero ? "*0" : "*";
  return out;
}

bool is_zero_point_of_zero(const Tensor& tensor) {
  if ((tensor.dtype() != DType::i8 && tensor.dtype() != DType::u8) || tensor.rank() > 1 || tensor.empty()) return false;
  const auto* bytes = tensor.bytes();
  return std::all_of(bytes, bytes + tensor.count(), [](std::byte b) { return b == std::byte{0}; });
}

std::string_view numeric_mode_name(NumericMode mode) {
  return mode == NumericMode::high_precision ? "high_precision" : "high_performance";
}

std::string attributes_text(const Attributes& attributes) {
  std::string out;
  for (const auto& [name, attribute] : attributes)
    out += (out.empty() ? "" : ", ") + name + "=" + attribute_text(attribute);
  return out;
}

std::string Workload::key() const {
  const auto join = [](const std::vector<std::optional<TensorSpec>>& specs) {
    std::string out;
    for (size_t i = 0; i < specs.size(); ++i) out += (i ? ", " : "") + to_text(specs[i]);
    return out;
  };
  return fmt::format("{}{}@{}({}) -> ({}) {{{}}}{}", domain.empty() ? "" : domain + "::", op, version, join(inputs),
                     join(outputs), attributes_text(attributes),
                     mode == NumericMode::high_precision ? "" : " high_performance");
}

Node Workload::node() const {
  Node node;
  node.name = op;
  node.domain = domain;
  node.op = op;
  node.version = version;
  node.attributes = attributes;
  ValueId id = 0;
  for (const auto& spec : inputs) {
    node.inputs.push_back(spec ? id : kNoValue);
    ++id;
  }
  for (const auto& spec : outputs) {
    node.outputs.push_back(spec ? id : kNoValue);
    ++id;
  }
  return node;
}

std::optional<Workload> make_workload(const Graph& graph, const GraphFacts& facts, const Node& node) {
  Workload workload{node.domain, node.op, node.version, node.attributes, {}, {}, NumericMode::high_precision};
  bool known = true;
  const auto add = [&](const std::vector<ValueId>& ids, std::vector<std::optional<TensorSpec>>& specs) {
    for (const ValueId id : ids) {
      if (id == kNoValue) {
        specs.emplace_back();
        continue;
      }
      const ValueType& type = facts.types[static_cast<size_t>(id)];
      const auto dims = concrete(type.shape);
      known &= dims.has_value() && type.dtype != DType::undefined;
      specs.push_back(
          TensorSpec{type.dtype, dims.value_or(Dims{}), graph.value(id).layout, graph.value(id).is_constant()});
    }
  };
  add(node.inputs, workload.inputs);
  add(node.outputs, workload.outputs);
  if (!known) return std::nullopt;
  return workload;
}

}  // namespace attune
