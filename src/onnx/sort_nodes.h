// Orders the nodes of a GraphProto or FunctionProto so that producers come before readers.
#pragma once

#include "onnx/proto.h"

#include <string>
#include <vector>

namespace attune::onnx_io {

using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Keeps the given order where it is already right, as it should be. Throws UserError on a cycle (naming nodes on it)
/// and when two nodes produce one value. `where` names the graph.
std::vector<const onnx::NodeProto*> sorted_nodes(const NodeList& nodes, const std::string& where);

/// A node's name for messages: its own, or one made from its first output.
std::string node_label(const onnx::NodeProto& node);

}  // namespace attune::onnx_io
