// The text form of a graph: printed for people and tests, parsed back by tests.
//
//   graph "net" {
//     opset "" 17
//     input %x : f32[N, 4]
//     const %w : f32[4] = [1, 2, 3, 4]
//     %y : f32[N, 4] = Add@17(%x, %w) "add_1"
//     %z, _ = Split@17(%y) "split" {axis = 1, num_outputs = 2}
//     output %z
//   }
//
// A subgraph is an attribute `then_branch = graph "then" { capture %c = %x … }`. Omitted inputs and outputs are `_`;
// types are left out where they are not known; other domains are written `com.microsoft::Gelu@1`.
#pragma once

#include "graph/graph.h"

#include <functional>
#include <string>
#include <string_view>

namespace attune {

/// Contents that are kept elsewhere are written as `blob N`.
using TensorToBlob = std::function<std::optional<int64_t>(const Tensor&)>;
using BlobToTensor = std::function<Tensor(int64_t blob, DType dtype, const Dims& dims)>;

struct PrintOptions {
  /// Contents of larger tensors are printed as `...`, which does not parse back.
  int64_t most_elements = 1 << 30;
  TensorToBlob blob = {};  // empty: all contents are printed
};

std::string to_text(const Graph& graph, const PrintOptions& options = {});

/// Throws UserError with line and column on anything that is not of the form above.
Graph parse_graph(std::string_view text, const BlobToTensor& blob = {});

}  // namespace attune
