#include "graph/text.h"

#include <cctype>

namespace attune {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string name_text(std::string_view name) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' || c == ':';
  };
  bool simple = !name.empty() && name != "_";
  for (const char c : name) simple &= plain(c);
  return "%" + (simple ? std::string(name) : quoted(name));
}

std::string type_text(DType dtype, const std::optional<Shape>& shape) {
  std::string out(dtype_name(dtype));
  if (!shape) return out;
  out += '[';
  for (size_t i = 0; i < shape->size(); ++i) out += (i ? ", " : "") + (*shape)[i].text();
  return out + "]";
}

std::string layout_text(Layout layout) {
  return layout == Layout::plain ? "" : " @" + std::string(layout_name(layout));
}

/// Plain numbers where there are exact ones; bytes in hexadecimal for everything else.
std::string contents_text(const Tensor& tensor, const PrintOptions& options) {
  if (const auto blob = options.blob ? options.blob(tensor) : std::nullopt) return fmt::format("blob {}", *blob);
  if (tensor.count() > options.most_elements) return "...";
  const auto list = [&](auto element) {
    std::string out = "[";
    for (int64_t i = 0; i < tensor.count(); ++i) out += (i ? ", " : "") + element(i);
    return out + "]";
  };
  switch (tensor.dtype()) {
    case DType::f32: return list([&](int64_t i) { return fmt::format("{}", tensor.data<float>()[i]); });
    case DType::f64: return list([&](int64_t i) { return fmt::format("{}", tensor.data<double>()[i]); });
    case DType::i64: return list([&](int64_t i) { return fmt::format("{}", tensor.data<int64_t>()[i]); });
    case DType::i32: return list([&](int64_t i) { return fmt::format("{}", tensor.data<int32_t>()[i]); });
    default: break;
  }
  std::string out = "hex \"";
  for (int64_t i = 0; i < tensor.size_bytes(); ++i)
    out += fmt::format("{:02x}", static_cast<unsigned>(tensor.bytes()[i]));
  return out + "\"";
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string print(const Graph& graph, const Graph* outer, const std::string& indent) {
    const std::string inner = indent + "  ";
    std::string out = "graph " + quoted(graph.name) + " {\n";
    for (const auto& [domain, version] : graph.opsets)
      out += fmt::format("{}opset {} {}\n", inner, quoted(domain), version);
    for (const ValueId id : graph.inputs) out += inner + "input " + typed(graph.value(id)) + "\n";
    for (const Capture& capture : graph.captures)
      out += inner + "capture " + name_text(graph.value(capture.inner).name) + " = " +
             name_text(outer->value(capture.outer).name) + "\n";
    for (const Value& value : graph.values())
      if (value.is_constant())
        out += inner + "const " + typed(value) + " = " + contents_text(value.constant, options_) + "\n";
    for (const Node& node : graph.nodes()) out += inner + node_text(graph, node, inner) + "\n";
    for (const ValueId id : graph.outputs) out += inner + "output " + name_text(graph.value(id).name) + "\n";
    return out + indent + "}";
  }

 private:
  static std::string typed(const Value& value) {
    std::string out = name_text(value.name);
    if (value.dtype != DType::undefined) out += " : " + type_text(value.dtype, value.shape) + layout_text(value.layout);
    return out;
  }

  std::string node_text(const Graph& graph, const Node& node, const std::string& indent) {
    std::string out;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      out += (i ? ", " : "") + (node.outputs[i] == kNoValue ? "_" : typed(graph.value(node.outputs[i])));
    out += " = " + (node.domain.empty() ? "" : node.domain + "::") + node.op + "@" + std::to_string(node.version) + "(";
    for (size_t i = 0; i < node.inputs.size(); ++i)
      out += (i ? ", " : "") + (node.inputs[i] == kNoValue ? "_" : name_text(graph.value(node.inputs[i]).name));
    out += ") " + quoted(node.name);
    if (node.attributes.empty()) return out;
    out += " {";
    bool first = true;
    for (const auto& [name, attribute] : node.attributes) {
      out += (first ? "" : ", ") + name + " = " + attribute_text(graph, attribute, indent);
      first = false;
    }
    return out + "}";
  }

  std::string attribute_text(const Graph& graph, const Attribute& attribute, const std::string& indent) {
    const auto list = [](const auto& values, auto element) {
      std::string out = "[";
      for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + element(values[i]);
      return out + "]";
    };
    const auto tensor_text = [&](const Tensor& tensor) {
      return "tensor " + type_text(tensor.dtype(), to_shape(tensor.dims())) + " " + contents_text(tensor, options_);
    };
    // Floats carry an f, so that 1f and 1 stay apart; lists name their kind, so that empty ones do.
    const auto float_text = [](float value) { return fmt::format("{}f", value); };
    if (const auto* value = std::get_if<int64_t>(&attribute)) return std::to_string(*value);
    if (const auto* value = std::get_if<float>(&attribute)) return float_text(*value);
    if (const auto* value = std::get_if<std::string>(&attribute)) return quoted(*value);
    if (const auto* value = std::get_if<Tensor>(&attribute)) return tensor_text(*value);
    if (const auto* value = std::get_if<std::vector<int64_t>>(&attribute))
      return "ints " + list(*value, [](int64_t v) { return std::to_string(v); });
    if (const auto* value = std::get_if<std::vector<float>>(&attribute)) return "floats " + list(*value, float_text);
    if (const auto* value = std::get_if<std::vector<std::string>>(&attribute))
      return "strings " + list(*value, [](const std::string& v) { return quoted(v); });
    if (const auto* value = std::get_if<std::vector<Tensor>>(&attribute)) return "tensors " + list(*value, tensor_text);
    return print(*std::get<std::shared_ptr<Graph>>(attribute), &graph, indent);
  }

  const PrintOptions& options_;
};

}  // namespace

std::string to_text(const Graph& graph, const PrintOptions& options) {
  return Printer(options).print(graph, nullptr, "") + "\n";
}

}  // namespace attune
