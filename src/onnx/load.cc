#include "onnx/import_graph.h"
#include "onnx/lift_raw_data.h"
#include "onnx/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>

namespace attune {
namespace {

using onnx_io::TensorSources;

Model import_lifted(std::span<const std::byte> bytes, TensorSources sources) {
  // The library's own complaints would go to stderr beside ours.
  static const auto silenced = google::protobuf::SetLogHandler(nullptr);
  static_cast<void>(silenced);
  if (bytes.empty()) throw UserError("not an ONNX model: the file is empty");
  onnx_io::LiftedModel lifted = onnx_io::lift_raw_data(bytes);
  sources.blobs = std::move(lifted.blobs);
  onnx::ModelProto proto;
  if (lifted.skeleton.size() > INT32_MAX)
    throw UserError("not an ONNX model: its structure alone exceeds protobuf's limit of 2 GiB");
  if (!proto.ParseFromArray(lifted.skeleton.data(), static_cast<int>(lifted.skeleton.size())))
    throw UserError("not an ONNX model, or truncated: the protobuf data does not parse");
  std::string().swap(lifted.skeleton);
  if (!proto.has_graph()) throw UserError("not an ONNX model: it has no graph");

  Model model;
  model.ir_version = proto.ir_version();
  model.producer = proto.producer_name() + (proto.producer_version().empty() ? "" : " " + proto.producer_version());
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
  model.graph = onnx_io::import_graph(proto, sources);
  return model;
}

}  // namespace

Model load_onnx(const std::filesystem::path& path) {
  const auto file = FileMap::open(path);
  TensorSources sources;
  sources.blob_owner = file;
  sources.blob_file = file.get();
  const auto folder = path.parent_path();
  sources.external = onnx_io::ExternalFiles(folder.empty() ? "." : folder);
  try {
    return import_lifted(file->bytes(), std::move(sources));
  } catch (const UnsupportedError& error) {
    throw UnsupportedError("{}: {}", path.string(), error.what());
  } catch (const UserError& error) {
    throw UserError("{}: {}", path.string(), error.what());
  }
}

Model import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  TensorSources sources;
  sources.blob_owner = std::move(owner);
  return import_lifted(bytes, std::move(sources));
}

NamedTensor load_tensor_proto(const std::filesystem::path& path) {
  const auto file = FileMap::open(path);
  onnx::TensorProto proto;
  const auto bytes = file->bytes();
  if (bytes.size() > INT32_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw UserError("{}: not a TensorProto", path.string());
  TensorSources sources;
  return {proto.name(), onnx_io::import_tensor(proto, sources, "tensor '" + proto.name() + "'")};
}

}  // namespace attune
