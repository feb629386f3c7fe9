// Reading and writing ONNX models.
#pragma once

#include "graph/graph.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace attune {

struct Model {
  Graph graph;
  int64_t ir_version = 0;
  std::string producer;  // name and version
  std::map<std::string, std::string> metadata;
};

/// Reads a model file. The file stays mapped while tensors of the graph borrow from it.
Model load_onnx(const std::filesystem::path& path);

/// Reads a model from memory that `owner` keeps alive; external data are refused.
Model import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

/// A TensorProto file (*.pb), as the ONNX backend tests use for inputs and outputs.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};
NamedTensor load_tensor_proto(const std::filesystem::path& path);

struct SaveOptions {
  /// Initializers of at least this size go to a file beside the model; the default keeps one file up to protobuf's
  /// limit of 2 GiB.
  int64_t external_threshold_bytes = int64_t{1} << 62;
};

/// Writes a model atomically: the old file, if any, stays whole until the new one is complete.
void save_onnx(const Graph& graph, const std::filesystem::path& path, const SaveOptions& options = {});

}  // namespace attune
