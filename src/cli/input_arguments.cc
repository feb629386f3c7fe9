#include "cli/input_arguments.h"

#include "base/suggest.h"
#include "cli/model_argument.h"
#include "io/npz.h"
#include "runtime/executor.h"
#include "runtime/random_inputs.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace attune::cli {
namespace {

using NamedTensors = std::map<std::string, Tensor>;

[[noreturn]] void refuse_name(const std::string& name, const Graph& graph) {
  std::vector<std::string_view> names;
  for (const ValueId id : graph.inputs) names.push_back(graph.value(id).name);
  const auto close = nearest(name, names);
  throw UserError("'{}' is no input of the model{}", name, close ? fmt::format("; did you mean '{}'?", *close) : "");
}

/// An array of the wrong name or type is refused before its contents are read.
NpyOptions npy_options(const Graph& graph) {
  NpyOptions options;
  // bf16 has no type of its own in NumPy; such arrays are read as what the model takes.
  for (const ValueId id : graph.inputs)
    if (graph.value(id).dtype == DType::bf16) options.void_as = DType::bf16;
  options.accept = [&graph](const std::string& name, DType dtype, const Dims& dims) {
    for (const ValueId id : graph.inputs)
      if (graph.value(id).name == name) return check_input(graph.value(id), dtype, dims);
    refuse_name(name, graph);
  };
  return options;
}

NamedTensors read_inputs(const InputArguments& arguments, const Graph& graph) {
  NamedTensors tensors;
  NpyOptions options = npy_options(graph);
  if (!arguments.inputs.empty()) tensors = read_npz(arguments.inputs, options);
  for (const std::string& entry : arguments.input) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size())
      throw UserError("--input '{}' is not of the form NAME=FILE.npy", entry);
    options.name = entry.substr(0, equals);
    if (!tensors.emplace(options.name, read_npy(entry.substr(equals + 1), options)).second)
      throw UserError("input '{}' is given twice", options.name);
  }
  return tensors;
}

std::vector<Tensor> arrange(const Graph& graph, const NamedTensors& given) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    const auto found = given.find(input.name);
    if (found == given.end())
      throw UserError("input '{}' ({} {}) is missing; add it to --inputs or give --input {}=FILE.npy", input.name,
                      dtype_name(input.dtype), to_text(input.shape), input.name);
    inputs.push_back(found->second);
  }
  return inputs;
}

}  // namespace

void add_inputs(CLI::App& verb, InputArguments& arguments) {
  verb.add_option("--inputs", arguments.inputs, "Inputs as an .npz file, under their ONNX names");
  verb.add_option("--input", arguments.input, "One input as NAME=FILE.npy; may be repeated");
  verb.add_option("--shapes", arguments.shapes, kShapesHelp);
  verb.add_option("--seed", arguments.seed, "Seed of random inputs and random operators")->capture_default_str();
}

std::vector<Tensor> make_inputs(const InputArguments& arguments, const Graph& graph) {
  const bool from_files = !arguments.inputs.empty() || !arguments.input.empty();
  if (from_files && !arguments.shapes.empty())
    throw UserError("--shapes goes with random inputs; files have shapes of their own");
  if (from_files) return arrange(graph, read_inputs(arguments, graph));
  return random_inputs(graph, input_shapes(graph, parse_shapes(arguments.shapes)), arguments.seed);
}

}  // namespace attune::cli
