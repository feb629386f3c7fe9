// attune why: which kernel runs each node, in which layout, and what the other providers said.
#include "cli/input_arguments.h"
#include "cli/model_argument.h"
#include "cli/output.h"
#include "cli/precision_arguments.h"
#include "cli/runner_arguments.h"
#include "cli/verbs.h"
#include "job/tuning_task.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <numeric>

namespace attune::cli {
namespace {

using Json = nlohmann::ordered_json;

struct WhyArguments {
  OutputFormat format = OutputFormat::table;
  std::string model;
  std::string node;
  InputArguments inputs;
  RunnerArguments runner;
  PrecisionArguments precision;
  bool time = false;
};

std::string layout_of(const Step& step) {
  for (const auto& spec : step.workload.outputs)
    if (spec) return std::string(layout_name(spec->layout));
  return "plain";
}

std::string op_of(const Step& step) {
  if (step.node == nullptr) return "Reorder";
  return step.node->domain.empty() ? step.node->op : step.node->domain + "::" + step.node->op;
}

void add_times(const std::vector<double>& times, Table& table, Json& json) {
  const double total = std::accumulate(times.begin(), times.end(), 0.0);
  table.columns.push_back({"ms", Align::right});
  table.columns.push_back({"share", Align::right});
  for (size_t i = 0; i < times.size(); ++i) {
    table.rows[i].push_back(fmt::format("{:.4f}", times[i]));
    table.rows[i].push_back(fmt::format("{:.1f} %", total > 0 ? 100 * times[i] / total : 0));
    json[i]["median_ms"] = times[i];
  }
}

void add_step(const Step& step, Table& table, Json& json) {
  table.rows.push_back(
      {step.label, op_of(step), step.provider, attune::to_text(step.config), layout_of(step), step.reason});
  Json entry = {{"node", step.label},
                {"op", op_of(step)},
                {"workload", step.kernel ? step.workload.key() : ""},
                {"provider", step.provider},
                {"config", step.config},
                {"layout", layout_of(step)},
                {"reason", step.reason},
                {"alternatives", Json::array()}};
  for (const Alternative& alternative : step.alternatives) {
    Json configs = Json::array();
    for (const Config& config : alternative.configs) configs.push_back(config);
    entry["alternatives"].push_back(
        {{"provider", alternative.provider}, {"configs", configs}, {"refusal", alternative.reason}});
  }
  json.push_back(std::move(entry));
}

Table alternatives_table(const Step& step) {
  Table table{"what else there is for " + step.label, {{"provider"}, {"kernel"}, {"refusal"}}, {}};
  for (const Alternative& alternative : step.alternatives) {
    for (const Config& config : alternative.configs)
      table.rows.push_back({alternative.provider, attune::to_text(config), ""});
    if (alternative.configs.empty()) table.rows.push_back({alternative.provider, "", alternative.reason});
  }
  return table;
}

ExitCode run_why(const WhyArguments& arguments) {
  const Session session = open_session(arguments.model, arguments.runner, arguments.precision, arguments.inputs);
  const std::vector<Tensor> inputs = make_inputs(arguments.inputs, session.graph());
  const auto plan = session.plan(inputs);
  if (arguments.time && !arguments.node.empty())
    throw UserError("--time measures every step of a run; leave out the node '{}'", arguments.node);
  Report report;
  report.json = Json::array();
  Table table{"", {{"node"}, {"operator"}, {"provider"}, {"kernel"}, {"layout"}, {"why"}}, {}};
  std::vector<Table> details;
  for (const Step& step : plan->steps) {
    if (!arguments.node.empty() && step.label != arguments.node) continue;
    add_step(step, table, report.json);
    if (!arguments.node.empty()) details.push_back(alternatives_table(step));
  }
  if (!arguments.node.empty() && table.rows.empty())
    throw UserError("no step is named '{}'; it may be folded or fused into another (run 'attune why {}' for all)",
                    arguments.node, arguments.model);
  if (arguments.time) add_times(time_steps(session, inputs), table, report.json);
  report.tables.push_back(std::move(table));
  report.tables.insert(report.tables.end(), details.begin(), details.end());
  if (session.precision()) {
    report.tables.push_back(precision_table(*session.precision()));
    report.json = {{"precision", to_json(*session.precision())}, {"steps", std::move(report.json)}};
  }
  print(report, arguments.format);
  return ExitCode::ok;
}

}  // namespace

Action add_why(CLI::App& verb) {
  auto arguments = std::make_shared<WhyArguments>();  // shared: CLI11 writes it, the action reads it
  verb.add_option("model", arguments->model, kModelOrPlanHelp)->required();
  verb.add_option("node", arguments->node, "Only this node, with every alternative and refusal");
  verb.add_flag("--time", arguments->time, "Run the model a few times and show how long each step takes");
  add_inputs(verb, arguments->inputs);
  add_runner(verb, arguments->runner);
  add_precision(verb, arguments->precision);
  add_bank(verb, arguments->runner);
  add_format(verb, arguments->format);
  return [arguments] { return run_why(*arguments); };
}

}  // namespace attune::cli
