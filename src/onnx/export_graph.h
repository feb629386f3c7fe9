// Graph → GraphProto. Initializers are left out: save.cc streams their contents without copying them.
#pragma once

#include "graph/graph.h"
#include "onnx/proto.h"

#include <map>
#include <set>

namespace attune::onnx_io {

/// Names of one graph's values in the file. ONNX subgraphs see outer names, so a captured value bears its outer name
/// and a subgraph's own values avoid all outer ones.
using ExportNames = std::map<ValueId, std::string>;

ExportNames export_names(const Graph& graph, const ExportNames* outer, std::set<std::string>& taken);

/// Everything but the main graph's initializers; those of subgraphs are included, since they are small.
void export_graph(const Graph& graph, const ExportNames& names, std::set<std::string>& taken, onnx::GraphProto& proto);

/// Name, type and dims of a tensor, and its contents.
void export_tensor_header(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto);
void export_tensor(const Tensor& tensor, const std::string& name, onnx::TensorProto& proto);

}  // namespace attune::onnx_io
