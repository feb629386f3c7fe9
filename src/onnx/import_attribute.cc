#include "onnx/import_attribute.h"

namespace attune::onnx_io {
namespace {

/// Models of IR version 1 leave the type out; the field that is set tells it.
onnx::AttributeProto::AttributeType type_of(const onnx::AttributeProto& proto) {
  using Proto = onnx::AttributeProto;
  if (proto.type() != Proto::UNDEFINED) return proto.type();
  if (proto.has_f()) return Proto::FLOAT;
  if (proto.has_i()) return Proto::INT;
  if (proto.has_s()) return Proto::STRING;
  if (proto.has_t()) return Proto::TENSOR;
  if (proto.has_g()) return Proto::GRAPH;
  if (proto.floats_size() > 0) return Proto::FLOATS;
  if (proto.ints_size() > 0) return Proto::INTS;
  if (proto.strings_size() > 0) return Proto::STRINGS;
  return Proto::UNDEFINED;
}

}  // namespace

Attribute import_attribute(const onnx::AttributeProto& proto, TensorSources& sources,
                           const ImportSubgraph& import_subgraph, const std::string& what) {
  using Proto = onnx::AttributeProto;
  switch (type_of(proto)) {
    case Proto::FLOAT: return proto.f();
    case Proto::INT: return static_cast<int64_t>(proto.i());
    case Proto::STRING: return proto.s();
    case Proto::TENSOR: return import_tensor(proto.t(), sources, what);
    case Proto::SPARSE_TENSOR: return import_sparse_tensor(proto.sparse_tensor(), sources, what);
    case Proto::GRAPH: return import_subgraph(proto.g());
    case Proto::FLOATS: return std::vector<float>(proto.floats().begin(), proto.floats().end());
    case Proto::INTS: return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
    case Proto::STRINGS: return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    case Proto::TENSORS: {
      std::vector<Tensor> tensors;
      for (const auto& tensor : proto.tensors()) tensors.push_back(import_tensor(tensor, sources, what));
      return tensors;
    }
    case Proto::UNDEFINED: throw UserError("{} has no value", what);
    default:
      throw UnsupportedError("{} is a list of graphs, of sparse tensors or a type, which attune does not support",
                             what);
  }
}

}  // namespace attune::onnx_io
