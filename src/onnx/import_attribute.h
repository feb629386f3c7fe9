// AttributeProto → Attribute.
#pragma once

#include "graph/graph.h"
#include "onnx/import_tensor.h"
#include "onnx/proto.h"

#include <functional>

namespace attune::onnx_io {

using ImportSubgraph = std::function<std::shared_ptr<Graph>(const onnx::GraphProto&)>;

Attribute import_attribute(const onnx::AttributeProto& proto, TensorSources& sources,
                           const ImportSubgraph& import_subgraph, const std::string& what);

}  // namespace attune::onnx_io
