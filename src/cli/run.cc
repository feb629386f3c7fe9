// attune run: one inference of a model, from files or random inputs to files or a summary.
#include "base/parallel.h"
#include "cli/dump_request.h"
#include "cli/input_arguments.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/precision_arguments.h"
#include "cli/runner_arguments.h"
#include "cli/verbs.h"
#include "io/npz.h"
#include "runtime/session.h"
#include "runtime/tensor_summary.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

namespace attune::cli {
namespace {

struct RunArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  InputArguments inputs;
  RunnerArguments runner;
  PrecisionArguments precision;
  std::string output;
};

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
  const Session session = open_session(arguments.model, arguments.runner, arguments.precision, arguments.inputs);
  const Graph& graph = session.graph();
  const std::vector<Tensor> inputs = make_inputs(arguments.inputs, graph);
  dump_on_request(*session.plan(inputs),
                  arguments.model);  // a model whose shapes contradict each other is refused before anything runs

  const auto begin = std::chrono::steady_clock::now();
  RunOptions options;
  options.seed = arguments.inputs.seed;
  const std::vector<Tensor> outputs = session.run(inputs, options);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;

  if (!arguments.output.empty()) {
    std::vector<std::pair<std::string, Tensor>> arrays;
    for (size_t i = 0; i < outputs.size(); ++i) arrays.emplace_back(graph.value(graph.outputs[i]).name, outputs[i]);
    write_npz(arguments.output, arrays);
  }
  Report report = summarize(graph, outputs, elapsed.count());
  if (session.precision()) report.json["precision"] = to_json(*session.precision());
  print(report, arguments.format);
  write_stderr(fmt::format("ran in {:.1f} ms on {} threads\n", elapsed.count(), thread_count()));
  return ExitCode::ok;
}

}  // namespace

Action add_run(CLI::App& verb) {
  auto arguments = std::make_shared<RunArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("model", arguments->model, kModelOrPlanHelp)->required();
  add_inputs(verb, arguments->inputs);
  verb.add_option("--output", arguments->output, "Write the outputs to this .npz file, under their ONNX names");
  add_runner(verb, arguments->runner);
  add_precision(verb, arguments->precision);
  add_bank(verb, arguments->runner);
  add_format(verb, arguments->format);
  return [arguments] { return run_model(*arguments); };
}

}  // namespace attune::cli
