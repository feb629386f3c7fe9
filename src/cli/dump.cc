// attune dump: writes down the operators of a model, so that they are tuned later or on another machine without it.
#include "base/parallel.h"
#include "cli/dump_request.h"
#include "cli/input_arguments.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/runner_arguments.h"
#include "cli/verbs.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace attune::cli {
namespace {

struct DumpArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  std::string output;
  InputArguments inputs;
  RunnerArguments runner;
};

ExitCode run_dump(const DumpArguments& arguments) {
  const Session session = open_session(arguments.model, arguments.runner);
  const auto plan = session.plan(make_inputs(arguments.inputs, session.graph()));
  const OperatorDump dump = dump_operators(*plan, arguments.model, thread_count());
  const std::string file = write_operator_dump(dump, arguments.output).string();
  Report report;
  Table table{file, {{"workload"}, {"nodes", Align::right}}, {}};
  for (const DumpedOperator& one : dump.operators)
    table.rows.push_back({one.workload.key(), std::to_string(one.nodes.size())});
  report.tables.push_back(std::move(table));
  report.json = nlohmann::ordered_json::parse(to_json_text(dump));
  report.json["file"] = file;
  print(report, arguments.format);
  for (const std::string& reason : dump.left_out) write_stderr("left out: " + printable(reason) + "\n");
  return ExitCode::ok;
}

}  // namespace

void dump_on_request(const Plan& plan, const std::string& model) {
  const auto folder = requested_dump_folder();
  if (!folder) return;
  const OperatorDump dump = dump_operators(plan, model, thread_count());
  const std::string file = write_operator_dump(dump, *folder).string();
  write_stderr(fmt::format("dumped {} operators to {} (ENABLE_TUNE_DUMP)\n", dump.operators.size(), printable(file)));
}

Action add_dump(CLI::App& verb) {
  auto arguments = std::make_shared<DumpArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("model", arguments->model, kModelHelp)->required();
  verb.add_option("-o,--output", arguments->output, "Folder to write the description into")->required();
  add_inputs(verb, arguments->inputs);
  add_runner(verb, arguments->runner);
  add_format(verb, arguments->format);
  return [arguments] { return run_dump(*arguments); };
}

}  // namespace attune::cli
