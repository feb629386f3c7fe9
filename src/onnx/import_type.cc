#include "onnx/import_type.h"

#include "onnx/element_type.h"

#include <cctype>

namespace attune::onnx_io {
namespace {

std::string symbol_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '_';
  if (std::isdigit(static_cast<unsigned char>(text.front()))) text.insert(text.begin(), '_');
  return text;
}

Dim import_dim(const onnx::TensorShapeProto::Dimension& dim, const std::string& fallback_name,
               const std::string& what) {
  if (dim.has_dim_value() && dim.dim_value() >= 0) return Dim(dim.dim_value());
  // -1 is how some exporters write a dim that is open.
  if (dim.has_dim_value() && dim.dim_value() != -1) throw UserError("{} has dim {}", what, dim.dim_value());
  // Exporters write expressions too, such as "past_sequence + 1"; other names are kept as far as they can be.
  if (const auto parsed = Dim::parse(dim.dim_param()); parsed && !parsed->is_unknown()) return *parsed;
  const bool named = !dim.dim_param().empty() && dim.dim_param() != "?";
  return Dim::symbol(symbol_name(named ? dim.dim_param() : fallback_name));
}

}  // namespace

ValueType import_type(const onnx::TypeProto& proto, const std::string& value_name, const std::string& what) {
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType: break;
    case onnx::TypeProto::VALUE_NOT_SET: throw UserError("{} has no type", what);
    case onnx::TypeProto::kSequenceType:
      throw UnsupportedError("{} is a sequence; attune runs plain tensors only", what);
    case onnx::TypeProto::kOptionalType:
      throw UnsupportedError("{} is an optional; attune runs plain tensors only", what);
    case onnx::TypeProto::kMapType: throw UnsupportedError("{} is a map; attune runs plain tensors only", what);
    default: throw UnsupportedError("{} is not a dense tensor; attune runs plain tensors only", what);
  }
  const auto& tensor = proto.tensor_type();
  ValueType type{from_onnx_type(tensor.elem_type(), what), std::nullopt};
  if (!tensor.has_shape()) return type;
  Shape shape;
  for (int axis = 0; axis < tensor.shape().dim_size(); ++axis)
    shape.push_back(import_dim(tensor.shape().dim(axis), value_name + "." + std::to_string(axis), what));
  type.shape = std::move(shape);
  return type;
}

}  // namespace attune::onnx_io
