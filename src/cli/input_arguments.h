// Inputs of a model on the command line: files, or random tensors of given shapes. Shared by the verbs that run models.
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace attune::cli {

struct InputArguments {
  std::string inputs;              // --inputs FILE.npz
  std::vector<std::string> input;  // --input NAME=FILE.npy
  std::string shapes;              // --shapes
  uint64_t seed = 0;               // --seed
};

/// Adds --inputs, --input, --shapes and --seed.
void add_inputs(CLI::App& verb, InputArguments& arguments);

/// One tensor for each input of the graph, checked against its type.
std::vector<Tensor> make_inputs(const InputArguments& arguments, const Graph& graph);

}  // namespace attune::cli
