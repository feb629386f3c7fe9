// TensorProto and SparseTensorProto → Tensor.
#pragma once

#include "graph/tensor.h"
#include "onnx/external_data.h"
#include "onnx/proto.h"

#include <span>
#include <vector>

namespace attune::onnx_io {

/// Where the contents of a model's tensors come from.
struct TensorSources {
  std::vector<std::span<const std::byte>> blobs;  // lifted raw_data, by index
  std::shared_ptr<const void> blob_owner;         // keeps them alive
  const FileMap* blob_file = nullptr;             // the file they lie in, if any
  ExternalFiles external{{}};
};

/// Borrows the contents where they are aligned, copies them otherwise. Checks every size before it allocates.
Tensor import_tensor(const onnx::TensorProto& proto, TensorSources& sources, const std::string& what);
Tensor import_sparse_tensor(const onnx::SparseTensorProto& proto, TensorSources& sources, const std::string& what);

}  // namespace attune::onnx_io
