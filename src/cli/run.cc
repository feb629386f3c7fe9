// attune run: one inference of a model, from files or random inputs to files or a summary.
#include "base/parallel.h"
#include "base/suggest.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "io/npz.h"
#include "ops/infer_graph.h"
#include "runtime/executor.h"
#include "runtime/session.h"
#include "runtime/random_inputs.h"
#include "runtime/tensor_summary.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

namespace attune::cli {
namespace {

struct RunArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  std::string inputs;
  std::vector<std::string> input;
  std::string shapes;
  std::string output;
  uint64_t seed = 0;
  int threads = 0;
};

using NamedTensors = std::map<std::string, Tensor>;

/// bf16 has no type of its own in NumPy; such arrays are read as what the model takes.
NpyOptions npy_options(const Graph& graph) {
  for (const ValueId id : graph.inputs)
    if (graph.value(id).dtype == DType::bf16) return {DType::bf16};
  return {};
}

NamedTensors read_inputs(const RunArguments& arguments, const Graph& graph) {
  NamedTensors tensors;
  if (!arguments.inputs.empty()) tensors = read_npz(arguments.inputs, npy_options(graph));
  for (const std::string& entry : arguments.input) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0)
      throw UserError("--input '{}' is not of the form NAME=FILE.npy", entry);
    if (!tensors.emplace(entry.substr(0, equals), read_npy(entry.substr(equals + 1), npy_options(graph))).second)
      throw UserError("input '{}' is given twice", entry.substr(0, equals));
  }
  return tensors;
}

std::vector<Tensor> arrange(const Graph& graph, const NamedTensors& given) {
  std::vector<Tensor> inputs;
  std::vector<std::string_view> names;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    names.push_back(input.name);
    const auto found = given.find(input.name);
    if (found == given.end())
      throw UserError("input '{}' ({} {}) is missing; add it to --inputs or give --input {}=FILE.npy", input.name,
                      dtype_name(input.dtype), to_text(input.shape), input.name);
    check_input(input, found->second);
    inputs.push_back(found->second);
  }
  for (const auto& [name, tensor] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const auto close = nearest(name, names);
    throw UserError("'{}' is no input of the model{}", name, close ? fmt::format("; did you mean '{}'?", *close) : "");
  }
  return inputs;
}

std::vector<Tensor> prepare_inputs(const RunArguments& arguments, const Graph& graph) {
  const bool from_files = !arguments.inputs.empty() || !arguments.input.empty();
  if (from_files && !arguments.shapes.empty())
    throw UserError("--shapes goes with random inputs; files have shapes of their own");
  if (from_files) return arrange(graph, read_inputs(arguments, graph));
  return random_inputs(graph, input_shapes(graph, parse_shapes(arguments.shapes)), arguments.seed);
}

Report summarize(const Graph& graph, const std::vector<Tensor>& outputs, double milliseconds) {
  Report report;
  Table table{
      "", {{"output"}, {"dtype"}, {"shape"}, {"min", Align::right}, {"max", Align::right}, {"mean", Align::right}}, {}};
  report.json = {{"run_ms", milliseconds}, {"outputs", nlohmann::ordered_json::array()}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.value(graph.outputs[i]).name;
    const TensorSummary summary = summarize(outputs[i]);
    table.rows.push_back({name, std::string(dtype_name(outputs[i].dtype())), attune::to_text(outputs[i].dims()),
                          fmt::format("{:.6g}", summary.min), fmt::format("{:.6g}", summary.max),
                          fmt::format("{:.6g}", summary.mean)});
    report.json["outputs"].push_back({{"name", name},
                                      {"dtype", dtype_name(outputs[i].dtype())},
                                      {"shape", outputs[i].dims()},
                                      {"min", summary.min},
                                      {"max", summary.max},
                                      {"mean", summary.mean},
                                      {"not_finite", summary.not_finite}});
  }
  report.tables.push_back(std::move(table));
  return report;
}

ExitCode run_model(const RunArguments& arguments) {
  if (arguments.threads > 0) set_thread_count(arguments.threads);
  const Model model = load_model(arguments.model);
  const Graph& graph = model.graph;
  const ReferenceExecutor executor(graph);
  const std::vector<Tensor> inputs = prepare_inputs(arguments, graph);
  check_shapes(graph, inputs);

  const auto begin = std::chrono::steady_clock::now();
  RunOptions options;
  options.seed = arguments.seed;
  const std::vector<Tensor> outputs = executor.run(inputs, options);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;

  if (!arguments.output.empty()) {
    std::vector<std::pair<std::string, Tensor>> arrays;
    for (size_t i = 0; i < outputs.size(); ++i) arrays.emplace_back(graph.value(graph.outputs[i]).name, outputs[i]);
    write_npz(arguments.output, arrays);
  }
  print(summarize(graph, outputs, elapsed.count()), arguments.format);
  write_stderr(fmt::format("ran in {:.1f} ms on {} threads\n", elapsed.count(), thread_count()));
  return ExitCode::ok;
}

}  // namespace

Action add_run(CLI::App& verb) {
  auto arguments = std::make_shared<RunArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("model", arguments->model, kModelHelp)->required();
  verb.add_option("--inputs", arguments->inputs, "Inputs as an .npz file, under their ONNX names");
  verb.add_option("--input", arguments->input, "One input as NAME=FILE.npy; may be repeated");
  verb.add_option("--shapes", arguments->shapes, kShapesHelp);
  verb.add_option("--seed", arguments->seed, "Seed of random inputs and random operators")->capture_default_str();
  verb.add_option("--output", arguments->output, "Write the outputs to this .npz file, under their ONNX names");
  verb.add_option("--threads", arguments->threads, "Threads to run on (default: the usable cores)")
      ->check(CLI::Range(1, 4096));
  add_format(verb, arguments->format);
  return [arguments] { return run_model(*arguments); };
}

}  // namespace attune::cli
