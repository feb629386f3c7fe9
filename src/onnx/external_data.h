// Tensor contents that lie in files beside the model. No name in a model reaches outside its folder.
#pragma once

#include "base/file_map.h"

#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace attune::onnx_io {

struct ExternalReference {
  std::string location;
  int64_t offset = 0;
  int64_t length = -1;  // -1: not stated
};

/// Opens and keeps the files of one model.
class ExternalFiles {
 public:
  /// An empty folder refuses every reference (a model that came from memory).
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The bytes of the reference, which must be exactly `expected_bytes` long; `what` names the tensor in errors.
  std::span<const std::byte> resolve(const ExternalReference& reference, int64_t expected_bytes,
                                     const std::string& what, std::shared_ptr<const FileMap>* owner);

 private:
  std::shared_ptr<const FileMap> open(const std::string& location, const std::string& what);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const FileMap>> files_;  // shared: tensors outlive the import
};

}  // namespace attune::onnx_io
