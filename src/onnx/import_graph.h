// ModelProto → Graph: names become values, subgraphs get explicit captures, model-local functions are expanded.
#pragma once

#include "onnx/import_tensor.h"
#include "onnx/model.h"
#include "onnx/proto.h"

#include <map>
#include <string>
#include <tuple>

namespace attune::onnx_io {

using OpsetVersions = std::map<std::string, int64_t>;  // domain → version; "" is ai.onnx

Graph import_graph(const onnx::ModelProto& model, TensorSources& sources);

}  // namespace attune::onnx_io
