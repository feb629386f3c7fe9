// attune plan: writes the plan of a model, so that it loads in milliseconds.
#include "runtime/plan_file.h"

#include "cli/input_arguments.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/precision_arguments.h"
#include "cli/runner_arguments.h"
#include "cli/verbs.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

namespace attune::cli {
namespace {

struct PlanArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  std::string output;
  InputArguments inputs;
  RunnerArguments runner;
  PrecisionArguments precision;
};

ExitCode run_plan(const PlanArguments& arguments) {
  const Session session = open_session(arguments.model, arguments.runner, arguments.precision, arguments.inputs);
  const std::vector<Tensor> inputs = make_inputs(arguments.inputs, session.graph());
  save_plan(session, inputs, arguments.output);
  const auto plan = session.plan(inputs);
  const auto bytes = std::filesystem::file_size(arguments.output);
  Report report;
  report.tables.push_back({"",
                           {{"file"}, {"steps", Align::right}, {"size", Align::right}, {"activations", Align::right}},
                           {{arguments.output, std::to_string(plan->steps.size()),
                             fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6),
                             fmt::format("{:.1f} MB", static_cast<double>(plan->arena_bytes) / 1e6)}}});
  report.json = {{"file", arguments.output},
                 {"steps", plan->steps.size()},
                 {"bytes", bytes},
                 {"arena_bytes", plan->arena_bytes},
                 {"weight_bytes", plan->constant_bytes()}};
  if (session.precision()) {
    report.tables.push_back(precision_table(*session.precision()));
    report.json["precision"] = to_json(*session.precision());
  }
  print(report, arguments.format);
  return ExitCode::ok;
}

}  // namespace

Action add_plan(CLI::App& verb) {
  auto arguments = std::make_shared<PlanArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("model", arguments->model, kModelHelp)->required();
  verb.add_option("-o,--output", arguments->output, "Plan file to write")->required();
  add_inputs(verb, arguments->inputs);
  add_runner(verb, arguments->runner);
  add_precision(verb, arguments->precision);
  add_bank(verb, arguments->runner);
  add_format(verb, arguments->format);
  return [arguments] { return run_plan(*arguments); };
}

}  // namespace attune::cli
