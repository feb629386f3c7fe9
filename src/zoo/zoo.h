// Models of true architecture with random weights, built in memory: everything can be tried without downloads.
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace attune::zoo {

struct Options {
  int64_t batch = 1;       // 0: the symbol "batch"
  int64_t sequence = 128;  // tokens of the text models; 0: the symbol "sequence"
  int64_t image_size = 0;  // pixels on a side of the vision models; 0: the model's own
  uint64_t seed = 1;       // equal seeds give equal weights, whatever the number of threads
};

struct Entry {
  std::string_view name;
  std::string_view summary;
  int64_t parameters;  // at the model's own image size
  Graph (*build)(const Options&);
};

/// Every model of the zoo.
std::span<const Entry> entries();

/// The model of that name as opset 17 nodes, the way PyTorch's exporter writes it. Throws UserError for an unknown name
/// and for options that the model cannot take.
Graph build(std::string_view name, const Options& options);

/// Trainable parameters of a graph that the zoo built. By its naming convention these are the floating-point constants
/// that are neither statistics of a batch normalisation ("….running_mean", "….running_var") nor literals, whose names
/// begin with '/' as exporters name the outputs of nodes.
int64_t parameter_count(const Graph& graph);

}  // namespace attune::zoo
