// Splits a serialised ONNX model into a small skeleton and the large tensor contents, which stay where they are. The
// protobuf library would copy each of them; a model would then need twice its size to load.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace attune::onnx_io {

struct LiftedModel {
  std::string skeleton;                           // a serialised ModelProto without large raw_data fields
  std::vector<std::span<const std::byte>> blobs;  // the raw_data that were lifted out
};

/// In the skeleton, a TensorProto whose raw_data was lifted has this field (a varint) with the index of its blob.
inline constexpr int kBlobField = 536870000;

/// Deepest nesting of graphs in graphs that is read: protobuf's own recursion limit of 100 messages allows about 33.
inline constexpr int kMostGraphNesting = 30;

/// Throws UserError when the bytes are not well-formed protobuf or nest too deeply.
LiftedModel lift_raw_data(std::span<const std::byte> model);

}  // namespace attune::onnx_io
